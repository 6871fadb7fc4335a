import type { SessionLog } from "@moora/event-log";
import { SessionError } from "./session-error.ts";

const owner = "an unfinished move";

/**
 * The holder of the lease of an incomplete copy, from which a session must not run. It is not a process: the lease lasts until the
 * next move of the session completes the copy, or the copy is removed.
 */
export const unfinishedMove: string = `${owner}##`;

/** The error for an incomplete copy of a session, whose lease lasts until a time. */
export const incompleteError = (id: string, until: number): SessionError =>
  new SessionError(
    "SessionBusy",
    `The session ${id} is an incomplete copy: a move to this log was interrupted. Move it again, or remove it.`,
    { owner, until },
  );

/**
 * Throws `SessionBusy` for an incomplete copy: a record that is added to it would be lost, since no move could complete it, and one
 * that is missing would not be missed. For all that opens a session without its lease, which is refused by itself.
 */
export async function checkIsComplete(session: SessionLog): Promise<void> {
  const lease = await session.currentLease();
  if (lease?.owner === unfinishedMove) throw incompleteError(session.id, lease.until);
}
