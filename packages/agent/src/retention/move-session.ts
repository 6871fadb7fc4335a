import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog, type LogRecord, type SessionLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { systemClock } from "../clock.ts";
import { unfinishedMove } from "../durable/incomplete-copy.ts";
import { isDead } from "../durable/lease-keeper.ts";
import { SessionError } from "../durable/session-error.ts";
import { copyBlobs } from "../time-travel/copy-blobs.ts";
import { batchesOf } from "../time-travel/write-session.ts";
import { isBusy, isInForce, removeEmpty, renewalOf, withHeld, type HeldSession } from "./hold-sessions.ts";
import { callerIdOf, findFamily, idsOf, type ListedSession } from "./session-family.ts";

/** The options of `moveSession`. */
export interface MoveOptions {
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

const forms: OptionForms<MoveOptions> = { clock: "clock" };

/**
 * Moves a session to another log, with the sessions of its sub-agents: to an archive, and back from it. The records are copied
 * unchanged, with the bytes of their files if both logs have a store for them. The sessions are removed from the first log when
 * the other one has the last records of all of them, callers first; bytes stay. A sub-agent without records is not copied, only
 * removed. A move that is refused changes neither log. One that was interrupted is completed by the next one, also where the first
 * log has only sub-agents left; until then an incomplete copy cannot be opened. Returns the ids of the moved sessions. Rejects with
 * `SessionUnknown`, with `SessionBusy` if a process runs one of them, with `LogExists` if the other log has a different session of
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
  const { clock = systemClock } = options;
  checkLogOptions("moveSession", options, forms);
  const members = (await membersOf(from, id)) ?? (await membersLeft(from, id, to));
  if (idsToMove(members).length === 0) throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  return await withHeld(from, { ids: idsOf(members), clock }, async (held) => {
    for (const each of held) if ((await each.session.head()) > 0) await checkTarget(each, to, clock);
    const sources = await removeEmptyOf(from, held);
    // The caller is first: if another process has created its session meanwhile, the log gets none of the family.
    for (const source of sources.toReversed()) await createTarget(source.session, to, clock);
    const copies = await copyAll({ from, to, sources, clock });
    const ids = sources.map(({ session }) => session.id);
    await withHeld(to, { ids, clock }, async (targets) => {
      await removeCopied(copies, renewalOf([...sources, ...targets], clock));
    });
    return ids;
  });
}

/**
 * Removes the sessions without records, which are those of sub-agents: their caller opens new ones, in whichever log it runs. Returns
 * the others.
 */
async function removeEmptyOf(from: EventLog, held: readonly HeldSession[]): Promise<readonly HeldSession[]> {
  const sources: HeldSession[] = [];
  for (const each of held) if (!(await removeEmpty(from, each.session))) sources.push(each);
  return sources;
}

/** The ids of the sessions of a family that a move copies: those with records. */
export const idsToMove = (family: readonly ListedSession[]): readonly string[] =>
  idsOf(family.filter(({ head }) => head > 0));

/** The sessions of a family that may be moved; undefined if the log does not have the session. */
async function membersOf(from: EventLog, id: string): Promise<readonly ListedSession[] | undefined> {
  const family = await findFamily(from, id);
  if (family === undefined) return undefined;
  if (family.session.head === 0)
    throw new SessionError("InvalidOption", `Session "${id}" has no records. Remove it instead.`);
  const callerId = await callerIdOf(from, family.session);
  if (callerId !== undefined) throw isCalled(id, callerId);
  return family.members;
}

/** The sub-agents of a session that an interrupted move has left in the first log after it had removed the session there. */
async function membersLeft(from: EventLog, id: string, to: EventLog): Promise<readonly ListedSession[]> {
  const left: ListedSession[] = [];
  for (const member of (await findFamily(to, id))?.members ?? []) {
    const session = await from.open(member.id);
    if (session?.header === member.header) left.push({ ...member, head: await session.head() });
  }
  return left;
}

/** A session of which the other log has all records up to `seq`. */
interface Copied {
  readonly source: HeldSession;
  readonly seq: number;
  /** Copies the records that were added meanwhile. Returns the last sequence number. */
  readonly copy: () => Promise<number>;
}

/** The sessions of a move, whose leases are held in the first log. */
interface Move {
  readonly from: EventLog;
  readonly to: EventLog;
  readonly sources: readonly HeldSession[];
  readonly clock: Clock;
}

/** Copies all sessions, those of callers last. Then the copies are complete, and may be run. */
async function copyAll({ from, to, sources, clock }: Move): Promise<readonly Copied[]> {
  const renew = renewalOf(sources, clock);
  const copies: Copied[] = [];
  const targets: SessionLog[] = [];
  for (const source of sources) {
    const target = await to.open(source.session.id);
    if (target === undefined)
      throw new LogError("LogRemoved", `The copy of "${source.session.id}" was removed.`);
    const copy = async (): Promise<number> => {
      await renew();
      return await copyRecords(source.session, target, async (records) => {
        await copyBlobs(from, to, records);
        await renew();
      });
    };
    targets.push(target);
    copies.push({ source, copy, seq: await copy() });
  }
  for (const target of targets) await target.release(unfinishedMove);
  return copies;
}

/**
 * Removes the sessions from the first log. Callers are first: what an interruption leaves there are copies, which no session calls. A
 * caller without its sub-agents would run them again.
 */
async function removeCopied(copies: readonly Copied[], renew: () => Promise<void>): Promise<void> {
  for (const { copy, source, seq } of copies.toReversed()) {
    await renew();
    await source.renew();
    // Another process may have posted to the session meanwhile.
    for (let last = seq; !(await source.removeAt(last)); last = await copy());
  }
}

/** Checks that the other log can take a session, and changes nothing. */
async function checkTarget(
  { session: source, holder }: HeldSession,
  to: EventLog,
  clock: Clock,
): Promise<void> {
  const { id, header } = source;
  const target = await to.open(id);
  const lease = await target?.currentLease();
  if (lease?.owner === holder) throw sameLog();
  const { records, damage } = await source.inspect();
  if (damage !== undefined) throw damage;
  if (target === undefined) return;
  if (target.header !== header) throw exists(id);
  checkIsSame(id, records, await target.read());
  if (lease !== undefined && lease.owner !== unfinishedMove && (await isInForce(lease, clock)))
    throw isBusy(id, lease);
}

/** How long a copy stays closed that no move completes: for good. */
const unfinishedMs = 100 * 365 * 86_400_000;

/**
 * Creates the session in the other log, unless an interrupted move has done that. A copy that lacks records is closed until it has them.
 */
async function createTarget(source: SessionLog, to: EventLog, clock: Clock): Promise<void> {
  const { id, header } = source;
  const claim = { owner: unfinishedMove, now: clock.now(), ttlMs: unfinishedMs };
  const target = (await to.open(id)) ?? (await to.create(id, header, claim));
  if (target.header !== header) throw exists(id);
  if ((await target.head()) >= (await source.head())) return;
  // Also after `create`: a log of your own may ignore the claim there.
  const lease = await target.lease(claim);
  if (lease.owner === unfinishedMove) return;
  if (await isDead(lease)) {
    await target.release(lease.owner);
    return await createTarget(source, to, clock);
  }
  throw isBusy(id, lease);
}

/** Copies the records that the other log does not have, and before them their files. Returns the last sequence number. */
async function copyRecords(
  source: SessionLog,
  target: SessionLog,
  beforeBatch: (records: readonly LogRecord[]) => Promise<void>,
): Promise<number> {
  const { records, damage } = await source.inspect();
  if (damage !== undefined) throw damage;
  const present = await target.read();
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
  if (records[common - 1]?.digest !== present[common - 1]?.digest) throw exists(id);
}

/** Throws `InvalidOption` if the log to which sessions are moved is the one that has them. */
export function checkIsOther(from: EventLog, to: EventLog): void {
  if (from === to) throw sameLog();
}

const sameLog = (): SessionError =>
  new SessionError(
    "InvalidOption",
    "The log to which sessions are moved is the log that has them. Give another log.",
  );

const exists = (id: string): LogError =>
  new LogError("LogExists", `The other log has a different session "${id}".`);

const isCalled = (id: string, callerId: string): SessionError =>
  new SessionError(
    "InvalidOption",
    `Session "${id}" is that of a sub-agent of "${callerId}". Move "${callerId}": its sub-agents go with it.`,
  );
