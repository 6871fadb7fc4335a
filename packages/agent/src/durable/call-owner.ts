import { digestOf, type Lease } from "@moora/event-log";

/** What the name of the owner ends with that runs the session of a sub-agent for a call with this idempotency key. */
export const callOwnerSuffix = (idempotencyKey: string): string => `, call ${digestOf(idempotencyKey)}`;

/**
 * Whether no process continues the session of a sub-agent once its task has ended: its call does not, any other owner does. `caller`
 * is the idempotency key of the call.
 */
export const isUnattended =
  (caller: string, now: number) =>
  (lease: Lease | undefined): boolean =>
    lease === undefined || lease.until <= now || lease.owner.endsWith(callOwnerSuffix(caller));
