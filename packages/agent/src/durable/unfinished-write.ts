import type { EventLog, Lease, SessionLog } from "@moora/event-log";
import { systemClock } from "../clock.ts";
import { leaseMs, replacingClaim, unfinishedMove } from "./closed-copy.ts";
import { hasEndedProcess, holderOf } from "./lease-holder.ts";
import { unlessRemoved } from "./unless-removed.ts";

/** The owner in the name of each holder that closes a fork or an imported session while its records are written. */
const writer = `${unfinishedMove}write`;

/** A holder that closes a session while its records are written. It names its process, whose end is known on the same machine. */
export const newWriteHolder = (): string => holderOf(writer);

/** How long a writer may not renew its claim. After that, its writing counts as interrupted. */
export const writeMs = 30_000;

/** Whether a lease closes a fork or an imported session that lacks records. */
export const isOfWrite = ({ owner }: Lease): boolean => owner.startsWith(writer);

/**
 * Whether a lease is that of a fork or an imported session whose writing was interrupted: its process is known to have ended, or has
 * not renewed the claim for `writeMs`. Writers use the system clock.
 */
export const isOfInterruptedWrite = (lease: Lease): boolean =>
  isOfWrite(lease) &&
  (hasEndedProcess(lease.owner) || systemClock.now() - (lease.until - leaseMs.incomplete) > writeMs);

/**
 * Removes a session whose writing was interrupted, and no other one. Returns whether it did. The claim is that of its writer until
 * this function has taken it: a writer that has renewed it meanwhile keeps it, and one that has not learns that it was lost.
 */
export async function removeInterruptedWrite(log: EventLog, id: string): Promise<boolean> {
  const session = await log.open(id);
  return session !== undefined && (await unlessRemoved(() => takeAndRemove(log, session), false));
}

async function takeAndRemove(log: EventLog, session: SessionLog): Promise<boolean> {
  const lease = await session.currentLease();
  if (lease === undefined || !isOfInterruptedWrite(lease)) return false;
  const holder = newWriteHolder();
  const taken = await session.lease(replacingClaim(lease, holder, systemClock.now()));
  return taken.owner === holder && (await removeWrite(log, session, holder));
}

/** Removes a session of which a holder has the lease. Returns false, and removes nothing, if another one has it. */
export async function removeWrite(log: EventLog, session: SessionLog, holder: string): Promise<boolean> {
  for (;;) {
    if ((await session.currentLease())?.owner !== holder) return false;
    const head = await session.head();
    if (head === 0 || session.removeAt === undefined) return await log.remove(session.id);
    if (await session.removeAt(head)) return true;
  }
}
