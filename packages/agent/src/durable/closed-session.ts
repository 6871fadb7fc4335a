import type { EventLog, Lease, SessionLog } from "@moora/event-log";
import { closedBy } from "./closed-copy.ts";
import { leaseIn } from "./lease-in.ts";
import { SessionError } from "./session-error.ts";
import { isOfInterruptedWrite, isOfWrite } from "./unfinished-write.ts";

/** The error for a session that a lease closes. */
export function closedError(id: string, lease: Lease): SessionError {
  if (isOfInterruptedWrite(lease)) {
    const message =
      `The session ${id} was never completed: the fork or the import that wrote it was interrupted. ` +
      "Make it again with the same id, or remove it.";
    return new SessionError("SessionIncomplete", message);
  }
  return new SessionError("MoveUnfinished", `The session ${id} is closed: ${reasonOf(lease)}`);
}

function reasonOf(lease: Lease): string {
  if (isOfWrite(lease)) return "a fork or an import is still writing it. Retry when it has finished.";
  return "a move of it has not ended. If it was interrupted, repeat it with the same logs.";
}

/**
 * Throws `MoveUnfinished` or `SessionIncomplete` for a closed session; returns the lease of any other. Records added to a copy would prevent the next move from
 * completing it, and readers would not notice the missing ones. An opening with access `run` does not call this: its claim of the
 * lease fails.
 */
export async function checkIsNotClosed(session: SessionLog): Promise<Lease | undefined> {
  const lease = await session.currentLease();
  if (lease !== undefined && closedBy(lease) !== undefined) throw closedError(session.id, lease);
  return lease;
}

/** Throws as `checkIsNotClosed`, and only for a session that a fork or an import has not completed. */
export async function checkIsWritten(log: EventLog, id: string): Promise<void> {
  const lease = await leaseIn(log, id);
  if (lease !== undefined && isOfWrite(lease)) throw closedError(id, lease);
}
