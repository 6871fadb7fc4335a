import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, Lease } from "@moora/event-log";
import { leaseIn } from "../durable/lease-in.ts";
import { engineOf, isDead } from "../durable/lease-holder.ts";

/** Whether a lease has not ended, and neither has its owner as far as is known. */
export const isInForce = async (lease: Lease, clock: Clock): Promise<boolean> =>
  lease.until > clock.now() && !(await isDead(lease));

/** Whether a process runs the session, as far as is known, or it is closed. An engine does not hold its sessions. */
export async function isLeased(log: EventLog, id: string, clock: Clock): Promise<boolean> {
  const lease = await leaseIn(log, id);
  return lease !== undefined && engineOf(lease.owner) === undefined && (await isInForce(lease, clock));
}
