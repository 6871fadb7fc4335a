import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { systemClock } from "../clock.ts";
import { closedBy, completeClaim, keptHolder, originalHolder } from "../durable/closed-copy.ts";
import { closedError } from "../durable/closed-session.ts";
import { leaseIn } from "../durable/lease-in.ts";
import { SessionError } from "../durable/session-error.ts";
import { checkTarget, copySessions, type Copied } from "./copy-sessions.ts";
import { unlessRemoved } from "../durable/unless-removed.ts";
import { heldError, removeEmpty, renewalOf, withHeld, type HeldSession } from "./hold-sessions.ts";
import { ClosedOriginals, isKept, keepOriginals } from "./closed-originals.ts";
import { openCopies, refusalOf } from "./open-copies.ts";
import { checkIsOther } from "./same-log.ts";
import { callerIdOf, findFamily, idsOf, type ListedSession } from "./session-family.ts";

/** The options of `moveSession`. */
export interface MoveOptions {
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * Whether to move a session that another move has closed: for one whose other log is lost. The original is not removed. It stays
   * closed, so that the other move does not open its copy if that comes back, and no session is moved back to it before it is removed.
   * Default: false.
   */
  readonly isCopyLost?: boolean;
}

const forms: OptionForms<MoveOptions> = { clock: "clock", isCopyLost: "boolean" };

/**
 * Moves a session to another log, with the sessions of its sub-agents: to an archive, and back from it. The records are copied
 * unchanged, with the bytes of their files if both logs have a store for them. The sessions are removed from the first log when
 * the other one has the last records of all of them, callers first; bytes stay. A sub-agent without records is not copied, only
 * removed. The copies cannot be opened before the originals are removed, or with `isCopyLost` closed for good, nor the originals when
 * the copies are complete. A move that is refused changes neither log. One that was interrupted is completed by the next one with the
 * same logs, also where the first log has only sub-agents left, or no session. Returns the ids of the moved sessions. Rejects with
 * `SessionUnknown`, also if another process has moved the session meanwhile, with `SessionBusy` if a process runs or moves one of them,
 * with `MoveUnfinished` for a session of which another move has not ended, with `LogExists` if the other log has a different session of
 * the same id, with `LogCorrupt` for a damaged one, and with `InvalidOption` for a session without records, for that of a sub-agent
 * whose caller is in the same log, for a log whose sessions have no `removeAt`, and if both logs are the same.
 */
export async function moveSession(
  from: EventLog,
  id: string,
  to: EventLog,
  options: MoveOptions = {},
): Promise<readonly string[]> {
  checkIsLog(from);
  checkIsId(id);
  checkIsLog(to);
  checkIsOther(from, to);
  const { clock = systemClock, isCopyLost = false } = options;
  checkLogOptions("moveSession", options, forms);
  try {
    return await moveFamily({ from, to, clock, isCopyLost }, id);
  } catch (error) {
    const isMoved =
      error instanceof LogError && error.code === "LogRemoved" && (await from.open(id)) === undefined;
    throw isMoved ? unknownError(id) : error;
  }
}

async function moveFamily(logs: Logs, id: string): Promise<readonly string[]> {
  const { from, to } = logs;
  const members = await membersOf(from, id);
  if (await isKept(from, id, to)) return await openCopies(logs, (await findFamily(to, id))?.members ?? []);
  return members === undefined ? await completeMove(logs, id) : await moveMembers(logs, members, id);
}

/** The ids of the sessions of a family that a move copies: those with records. */
export const idsToMove = (family: readonly ListedSession[]): readonly string[] =>
  idsOf(family.filter(({ head }) => head > 0));

/** The sessions of a family that may be moved; undefined if the log does not have the session. */
async function membersOf(from: EventLog, id: string): Promise<readonly ListedSession[] | undefined> {
  const family = await findFamily(from, id);
  if (family === undefined) return undefined;
  if (family.session.head === 0) {
    await checkIsNotEmpty(from, id);
    // Another mover has copied the session here meanwhile, or has removed it.
    return await membersOf(from, id);
  }
  const callerId = await callerIdOf(from, family.session);
  if (callerId !== undefined) throw calledError(id, callerId);
  return family.members;
}

interface Logs {
  readonly from: EventLog;
  readonly to: EventLog;
  readonly clock: Clock;
  readonly isCopyLost: boolean;
}

/** Moves sessions, each after those that it calls. Returns the ids of those with records. */
async function moveMembers(
  { from, to, clock, isCopyLost }: Logs,
  members: readonly ListedSession[],
  movedId?: string,
): Promise<readonly string[]> {
  const closed = new ClosedOriginals(to, isCopyLost);
  const mayContinue = async (id: string, closer: string): Promise<boolean> =>
    await closed.mayContinue(id, closer);
  return await withHeld(from, { ids: idsOf(members), clock, mayContinue, movedId }, async (held) => {
    const heads = new Map<HeldSession, number>();
    for (const each of held) heads.set(each, await each.session.head());
    const sources = held.filter((each) => heads.get(each) !== 0);
    for (const source of sources) await checkTarget(source, to, clock);
    for (const source of sources) if (source.session.id === movedId) source.keepMark();
    const renewed = new Set(held);
    const move = { from, to, clock, renew: renewalOf(renewed, clock) };
    const copies = [...(await copySessions(move, sources))];
    for (const empty of held.filter((each) => heads.get(each) === 0)) {
      if (await removeEmpty(from, empty.session)) renewed.delete(empty);
      else copies.unshift(...(await copySessions(move, [empty])));
    }
    await closeOriginals(copies, closed.areKept);
    try {
      for (const copied of copies.toReversed()) await completeCopy(copied, clock);
      if (closed.areKept) await keepOriginals(copies);
      else await removeOriginals(copies, renewed, move.renew);
    } catch (error) {
      // Another process may have completed the move.
      if (!(await areGone(copies))) throw error;
    }
    for (const { target, holder } of copies) await target.release(holder);
    return copies.map(({ source }) => source.session.id);
  });
}

/**
 * Closes the originals before a copy counts as complete: only this move removes them then, so that a complete copy without an original
 * has its last record. They stay closed if the process ends here. Callers are first: one that runs finds its sub-agents.
 */
async function closeOriginals(copies: readonly Copied[], areKept: boolean): Promise<void> {
  // None is closed if another process has taken one of them.
  for (const { source } of copies) await source.renew();
  // What was closed stays closed: another process may continue with it.
  for (const { source, holder } of copies.toReversed())
    await source.close(originalHolder(areKept ? keptHolder(holder) : holder));
}

/** Marks a copy as one that has all records, unless its original is gone: then another mover has marked it, and may have opened it. */
async function completeCopy({ source, target, holder }: Copied, clock: Clock): Promise<void> {
  if (await isGone(source)) return;
  const lease = await target.lease(completeClaim(holder, clock.now()));
  if (lease.owner !== holder) throw heldError(target.id, lease);
}

/** Whether the session of a mover was removed. */
const isGone = async ({ session }: HeldSession): Promise<boolean> =>
  (await unlessRemoved(async () => await session.head(), undefined)) === undefined;

/** Whether all originals were removed. They were closed: only a move does that, and their copies are the sessions. */
async function areGone(copies: readonly Copied[]): Promise<boolean> {
  for (const { source } of copies) if (!(await isGone(source))) return false;
  return true;
}

/**
 * Removes the sessions from the first log. Callers are first: what an interruption leaves there are copies, which no session calls. A
 * caller without its sub-agents would run them again.
 */
async function removeOriginals(
  copies: readonly Copied[],
  renewed: Set<HeldSession>,
  renew: () => Promise<void>,
): Promise<void> {
  for (const { copy, source, seq } of copies.toReversed()) {
    if (await isGone(source)) {
      renewed.delete(source);
      continue;
    }
    await renew();
    await source.renew();
    // Another process may have posted to the session meanwhile.
    for (let last = seq; !(await source.removeAt(last)); last = await copy());
    renewed.delete(source);
  }
}

/**
 * Completes a move that has removed the session from the first log, and possibly not all of its sub-agents: moves those, and opens
 * the copies. Returns the ids of these sessions.
 */
async function completeMove(logs: Logs, id: string): Promise<readonly string[]> {
  const { from, to, clock } = logs;
  const copies = (await findFamily(to, id))?.members ?? [];
  const lease = await leaseIn(to, id);
  const error = lease && refusalOf(id, lease, clock);
  if (error === undefined) {
    const left = await moveMembers(logs, await leftOf(from, copies));
    const moved = new Set([...left, ...(await openCopies(logs, copies))]);
    if (moved.size > 0) return idsOf(copies).filter((each) => moved.has(each));
  }
  // Another process may have moved the session to this log meanwhile, or have completed its copy.
  const isBack = (await from.open(id)) !== undefined;
  if (isBack || (error !== undefined && (await leaseIn(to, id))?.owner !== lease?.owner))
    return await moveFamily(logs, id);
  throw error ?? unknownError(id);
}

/** The originals that an interrupted move has left of these copies. */
async function leftOf(from: EventLog, copies: readonly ListedSession[]): Promise<readonly ListedSession[]> {
  const left: ListedSession[] = [];
  for (const copy of copies) {
    const session = await from.open(copy.id);
    if (session?.header !== copy.header) continue;
    const head = await session.head();
    if (head > 0) left.push({ ...copy, head });
  }
  return left;
}

/** Throws for a session without records: it may be a closed one, whose records are in another log, or not written yet. */
async function checkIsNotEmpty(log: EventLog, id: string): Promise<void> {
  const session = await log.open(id);
  const lease = session && (await unlessRemoved(async () => await session.currentLease(), undefined));
  if (lease !== undefined && closedBy(lease) !== undefined) throw closedError(id, lease);
  // After the lease was read: a copy that was opened meanwhile has records.
  const head = session && (await unlessRemoved(async () => await session.head(), undefined));
  if (head === 0)
    throw new SessionError("InvalidOption", `Session "${id}" has no records. Remove it instead.`);
}

const unknownError = (id: string): SessionError =>
  new SessionError("SessionUnknown", `Session "${id}" not found.`);

const calledError = (id: string, callerId: string): SessionError =>
  new SessionError(
    "InvalidOption",
    `Session "${id}" is that of a sub-agent of "${callerId}". Move "${callerId}": its sub-agents go with it.`,
  );
