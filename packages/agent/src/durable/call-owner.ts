import { digestOf } from "@moora/event-log";
import type { SessionBase } from "../session/create-session.ts";
import type { DurableOptions } from "./durable-session.ts";
import { isDead, ownerOf } from "./lease-holder.ts";
import { hasEnded } from "./lease-keeper.ts";

/** What the name of the owner ends with that runs the session of a sub-agent for a call with this idempotency key. */
export const callOwnerSuffix = (idempotencyKey: string): string => `, call ${digestOf(idempotencyKey)}`;

/**
 * What a poster to the session of a sub-agent finds out before it starts a loop there: whether no process would run it. The call
 * does not, once its task has ended; any other owner does. Nothing for any other session.
 */
export function callerBase({
  access,
  clock,
  found,
  handle,
  isOwnerGone,
}: DurableOptions): Pick<SessionBase, "isUnattended"> {
  const { caller } = found.header;
  if (access !== "post" || caller === undefined) return {};
  return {
    async isUnattended() {
      const lease = await handle.log.currentLease();
      if (lease === undefined || hasEnded(clock)(lease)) return true;
      return ownerOf(lease.owner).endsWith(callOwnerSuffix(caller)) || (await isDead(lease, isOwnerGone));
    },
  };
}
