import type { Lease, LeaseClaim, SessionLog } from "@moora/event-log";
import { SessionError } from "./session-error.ts";

/**
 * The holder of the lease of a closed copy, from which a session must not run: one that lacks records, or whose original may still
 * be in the other log. It is not a process: only a move opens the copy.
 */
export const unfinishedMove: string = "an unfinished move##";

type CopyStage = "incomplete" | "complete";

const yearMs = 365 * 86_400_000;

/** How long the lease of a closed copy lasts: longer than any process, and longest for a copy that has all records. */
const leaseMs: Readonly<Record<CopyStage, number>> = { incomplete: 100 * yearMs, complete: 200 * yearMs };

/** The claim with which a move closes a copy, and marks one that has all records. */
export const copyClaim = (now: number, stage: CopyStage): LeaseClaim => ({
  owner: unfinishedMove,
  now,
  ttlMs: leaseMs[stage],
});

/** Whether a lease is that of a closed copy that has all records. */
export const isOfCompleteCopy = ({ owner, until }: Lease, now: number): boolean =>
  owner === unfinishedMove && until - now > (leaseMs.incomplete + leaseMs.complete) / 2;

/** The error for a closed copy of a session. */
export const unfinishedError = (id: string): SessionError =>
  new SessionError(
    "MoveUnfinished",
    `The session ${id} is a copy whose move to this log has not ended. If the move was interrupted, repeat it.`,
  );

/**
 * Throws `MoveUnfinished` for a closed copy. Records added to it would prevent the next move from completing it, and readers would
 * not notice the missing ones. An opening with access `run` does not call this: its claim of the lease fails.
 */
export async function checkMoveHasEnded(session: SessionLog): Promise<void> {
  const lease = await session.currentLease();
  if (lease?.owner === unfinishedMove) throw unfinishedError(session.id);
}
