import type { Lease, LeaseClaim } from "@moora/event-log";
import { randomId } from "../user-message.ts";

/**
 * How the holder of the lease of a closed session begins, from which it must not run: a copy that lacks records, or whose original may
 * still be in the other log, and the original when its copy is complete. It is not a process: only a move opens the session.
 */
export const unfinishedMove: string = "an unfinished move##";

/** A holder that closes a new copy. */
export const newCopyHolder = (): string => `${unfinishedMove}${randomId("move")}`;

/** The holder that closes the original of a copy, which it names: no other move continues with it. */
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
export const leaseMs: Readonly<Record<Stage, number>> = { incomplete: 100 * yearMs, complete: 200 * yearMs };

/** The claim with which a move closes a session. */
export const closingClaim = (owner: string, now: number): LeaseClaim => ({
  owner,
  now,
  ttlMs: leaseMs.incomplete,
});

/** The claim that marks a closed copy as one that has all records. It takes no lease of another holder, also not one that has ended. */
export const completeClaim = (owner: string, now: number): LeaseClaim => ({
  owner,
  now: 0,
  ttlMs: now + leaseMs.complete,
});

/**
 * The claim with which another holder takes a lease, in one step, by default to close the session: a lease is free at its end, unless it
 * was renewed meanwhile.
 */
export const replacingClaim = (
  { until }: Lease,
  owner: string,
  now: number,
  ttlMs: number = leaseMs.incomplete,
): LeaseClaim => ({ owner, now: until, ttlMs: now + ttlMs - until });

/** Whether a lease is that of a closed copy that has all records. */
export const isOfCompleteCopy = ({ owner, until }: Lease, now: number): boolean =>
  closesSession(owner) && until - now > (leaseMs.incomplete + leaseMs.complete) / 2;
