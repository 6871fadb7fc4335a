import type { Clock } from "@moora/agent-core-effects";
import {
  LogError,
  type EventLog,
  type Lease,
  type LeaseClaim,
  type LogRecord,
  type SessionLog,
} from "@moora/event-log";
import { readInTurns } from "@moora/event-log/store";
import {
  closedBy,
  closingClaim,
  isOfOriginal,
  newCopyHolder,
  replacingClaim,
} from "../durable/closed-copy.ts";
import { closedError } from "../durable/closed-session.ts";
import { isDead } from "../durable/lease-holder.ts";
import { isOfInterruptedWrite, isOfWrite, removeInterruptedWrite } from "../durable/unfinished-write.ts";
import { copyBlobs } from "../time-travel/copy-blobs.ts";
import { batchesOf } from "../time-travel/write-session.ts";
import { heldError, isInForce, newHoldingClaim, type HeldSession } from "./hold-sessions.ts";
import { sameLogError } from "./same-log.ts";

/** Two logs, and a function that renews the leases in the first one. */
export interface Move {
  readonly from: EventLog;
  readonly to: EventLog;
  readonly clock: Clock;
  readonly renew: () => Promise<void>;
}

/** A session of which the other log has all records up to `seq`, in a closed copy. */
export interface Copied {
  readonly source: HeldSession;
  readonly target: SessionLog;
  /** The holder that closes the copy. */
  readonly holder: string;
  readonly seq: number;
  /** Copies the records that were added meanwhile. Returns the last sequence number. */
  readonly copy: () => Promise<number>;
}

/** Checks that the other log can take a session, and changes nothing. */
export async function checkTarget(
  { session: source, holder }: HeldSession,
  to: EventLog,
  clock: Clock,
): Promise<void> {
  const { id, header } = source;
  const target = await to.open(id);
  const lease = await target?.currentLease();
  if (lease?.owner === holder) throw sameLogError();
  const records = await readInTurns(source);
  if (target === undefined) return;
  if (lease !== undefined && isOfWrite(lease)) {
    if (isOfInterruptedWrite(lease)) return;
    throw heldError(id, lease);
  }
  // An original is not opened as a copy: it prevents that another move opens its copy.
  if (lease !== undefined && isOfOriginal(lease)) throw closedError(id, lease);
  if (target.header !== header) throw existsError(id);
  checkIsSame(id, records, await readInTurns(target));
  if (lease !== undefined && closedBy(lease) === undefined && (await isInForce(lease, clock)))
    throw heldError(id, lease);
}

/**
 * Copies sessions, each after those that it calls. The copies are closed: a process that opened one of them would run it beside the
 * original.
 */
export async function copySessions(move: Move, sources: readonly HeldSession[]): Promise<readonly Copied[]> {
  // The caller is first: if another process has created its session meanwhile, the log gets none of the family.
  const targets = new Map<HeldSession, ClosedCopy>();
  for (const source of sources.toReversed()) targets.set(source, await closedCopy(source, move));
  const copies: Copied[] = [];
  for (const [source, target] of [...targets].toReversed())
    copies.push(await copySession(move, source, target));
  return copies;
}

type ClosedCopy = Pick<Copied, "target" | "holder">;

async function copySession(
  { from, to, renew }: Move,
  source: HeldSession,
  { target, holder }: ClosedCopy,
): Promise<Copied> {
  const copy = async (): Promise<number> => {
    await renew();
    try {
      return await copyRecords(source.session, target, async (records) => {
        await copyBlobs(from, to, records);
        await renew();
      });
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "Conflict") throw error;
      // Another mover has copied records meanwhile. This one continues only if it still holds the original.
      await source.renew();
      return await copy();
    }
  };
  return { source, target, holder, copy, seq: await copy() };
}

/** The copy of a session in the other log, without a moment in which a process can open it. Creates it if it is missing. */
async function closedCopy(source: HeldSession, move: Move): Promise<ClosedCopy> {
  const { to, clock, renew } = move;
  const { id, header } = source.session;
  await removeInterruptedWrite(to, id);
  await renew();
  const target = (await to.open(id)) ?? (await createCopy(to, source.session, clock));
  if (target.header !== header) throw existsError(id);
  const closing = await target.currentLease();
  const closer = closedBy(closing);
  if (closing === undefined || closer === undefined) return await closeOpenCopy(source, target, clock);
  if (isOfWrite(closing) || isOfOriginal(closing)) throw heldError(id, closing);
  // Without a claim: another mover may have opened the session meanwhile, which a claim would close again.
  return { target, holder: closer };
}

/** Creates a closed copy, or opens the one that another mover has created meanwhile. */
async function createCopy(to: EventLog, { id, header }: SessionLog, clock: Clock): Promise<SessionLog> {
  try {
    return await to.create(id, header, closingClaim(newCopyHolder(), clock.now()));
  } catch (error) {
    const present = error instanceof LogError && error.code === "LogExists" ? await to.open(id) : undefined;
    if (present === undefined) throw error;
    return present;
  }
}

/** Closes a copy that is open. One without records is that of a log which ignores the claim of `create`. */
async function closeOpenCopy(source: HeldSession, target: SessionLog, clock: Clock): Promise<ClosedCopy> {
  const holder = newCopyHolder();
  if ((await target.head()) === 0) await take(target, closingClaim(holder, clock.now()));
  else {
    const lease = await holdOpenCopy(source, target, clock);
    await take(target, replacingClaim(lease, holder, clock.now()));
  }
  return { target, holder };
}

/**
 * Takes the lease of a copy that is open. It may be the session, moved by another mover meanwhile: this lease ends on its own, until it
 * is known that the original is there.
 */
async function holdOpenCopy(source: HeldSession, target: SessionLog, clock: Clock): Promise<Lease> {
  const lease = await take(target, newHoldingClaim(clock.now()));
  try {
    await source.renew();
  } catch (error) {
    await target.release(lease.owner);
    throw error;
  }
  return lease;
}

/** Takes the lease of a copy that no process runs. */
async function take(target: SessionLog, claim: LeaseClaim): Promise<Lease> {
  const { owner, now, ttlMs } = claim;
  let lease = await target.lease(claim);
  if (await isDead(lease)) lease = await target.lease(replacingClaim(lease, owner, now, ttlMs));
  if (lease.owner !== owner) throw heldError(target.id, lease);
  return lease;
}

/** Copies the records that the other log does not have, and before them their files. Returns the last sequence number. */
async function copyRecords(
  source: SessionLog,
  target: SessionLog,
  beforeBatch: (records: readonly LogRecord[]) => Promise<void>,
): Promise<number> {
  const records = await readInTurns(source);
  const present = await readInTurns(target);
  checkIsSame(source.id, records, present);
  let copied = present.length;
  for (const batch of batchesOf(records.slice(copied))) {
    await beforeBatch(batch);
    await target.append(copied, batch);
    copied += batch.length;
  }
  return records.length;
}

/** Throws `LogExists` unless one of two sessions is the beginning of the other: the copy may have been continued. */
function checkIsSame(id: string, records: readonly LogRecord[], present: readonly LogRecord[]): void {
  const common = Math.min(records.length, present.length);
  if (records[common - 1]?.digest !== present[common - 1]?.digest) throw existsError(id);
}

const existsError = (id: string): LogError =>
  new LogError(
    "LogExists",
    `The other log has a different session "${id}". Remove that one, or move a fork of this one with another id.`,
  );
