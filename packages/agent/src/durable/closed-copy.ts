import type { Lease, LeaseClaim, SessionLog } from "@moora/event-log";
import { randomId } from "../user-message.ts";
import { SessionError } from "./session-error.ts";

/**
 * How the holder of the lease of a closed session begins, from which it must not run: a copy that lacks records, or whose original may
 * still be in the other log, and the original when its copy is complete. It is not a process: only a move opens the session.
 */
export const unfinishedMove: string = "an unfinished move##";

/** A holder that closes a new copy. */
export const newCopyHolder = (): string => `${unfinishedMove}${randomId("move")}`;

/** A holder that closes a fork or an imported session while its records are written. */
export const newWriteHolder = (): string => `${unfinishedMove}${randomId("write")}`;

/** How long a session may take to be written. */
const writeMs = 30_000;

/** Whether a lease is that of a fork or an imported session whose writing has been interrupted. */
export const isOfInterruptedWrite = ({ owner, until }: Lease, now: number): boolean =>
  owner.startsWith(`${unfinishedMove}write_`) && now - (until - leaseMs.incomplete) > writeMs;

/** The holder that closes the original of a copy: no other move continues with it. */
export const originalHolder = (copyHolder: string): string => `${copyHolder}/original`;

/** Whether a holder closes a session. */
export const closesSession = (holder: string): boolean => holder.startsWith(unfinishedMove);

/** The holder of a lease that closes a session; undefined for any other lease. */
export const closedBy = (lease: Lease | undefined): string | undefined =>
  lease !== undefined && closesSession(lease.owner) ? lease.owner : undefined;

/** Whether a holder closes an original. */
export const closesOriginal = (holder: string): boolean =>
  closesSession(holder) && holder.endsWith("/original");

type Stage = "incomplete" | "complete";

const yearMs = 365 * 86_400_000;

/** How long the lease of a closed session lasts: longer than any process, and longest for a copy that has all records. */
const leaseMs: Readonly<Record<Stage, number>> = { incomplete: 100 * yearMs, complete: 200 * yearMs };

/** The claim with which a move closes a session, and marks a copy that has all records. */
export const closingClaim = (owner: string, now: number, stage: Stage): LeaseClaim => ({
  owner,
  now,
  ttlMs: leaseMs[stage],
});

/** Whether a lease is that of a closed copy that has all records. */
export const isOfCompleteCopy = ({ owner, until }: Lease, now: number): boolean =>
  closesSession(owner) && until - now > (leaseMs.incomplete + leaseMs.complete) / 2;

/** The error for a closed session. */
export const unfinishedError = (id: string): SessionError =>
  new SessionError(
    "MoveUnfinished",
    `The session ${id} is closed: a move, a fork or an import of it has not ended. If it was interrupted, repeat it with the same logs.`,
  );

/**
 * Throws `MoveUnfinished` for a closed session; returns the lease of any other. Records added to a copy would prevent the next move from completing it, and readers
 * would not notice the missing ones. An opening with access `run` does not call this: its claim of the lease fails.
 */
export async function checkMoveHasEnded(session: SessionLog): Promise<Lease | undefined> {
  const lease = await session.currentLease();
  if (closedBy(lease) !== undefined) throw unfinishedError(session.id);
  return lease;
}
