import type { Clock } from "@moora/agent-core-effects";
import { schedulesAt } from "@moora/agent-core-state-machine/internal";
import { LogError, sessionsOf, type EventLog } from "@moora/event-log";
import { checkIsLog } from "../check-arguments.ts";
import { checkLogOptions, type OptionForms } from "../check-options.ts";
import { systemClock } from "../clock.ts";
import { leaseIn } from "../durable/lease-in.ts";
import { SessionError } from "../durable/session-error.ts";
import type { SessionHeader } from "../durable/session-header.ts";
import { recordToInput } from "../durable/session-record.ts";
import { isOfInterruptedWrite, removeInterruptedWrite } from "../durable/unfinished-write.ts";
import { unlessRemoved } from "../durable/unless-removed.ts";
import { stateAt } from "../time-travel/read-session.ts";
import { checkIsOther, noRemoveAtError } from "./move-errors.ts";
import { moveSession } from "./move-session.ts";
import { isLeased } from "./running-sessions.ts";
import { idsOf, sessionsByFamily, type FamilyHead, type ListedSession } from "./session-family.ts";

/** A session that is old enough to be pruned. */
export interface PrunableSession {
  readonly id: string;
  readonly header: SessionHeader;
  /** The time of the last record of it and of its sub-agents, in milliseconds since 1970. */
  readonly updatedAt: number;
}

/** The options of `pruneSessions`. */
export interface PruneOptions {
  /** Sessions whose last record, and that of their sub-agents, is older than this time are pruned, in milliseconds since 1970. */
  readonly before: number;
  /** The log that the sessions are moved to. Default: none, they are removed. */
  readonly archive?: EventLog;
  /** Returns whether a session is kept although it is old, such as one with an open question. Default: none is kept. */
  readonly keep?: (session: PrunableSession) => boolean | Promise<boolean>;
  /** Whether to change nothing and to report what would be pruned. Default: false. */
  readonly dryRun?: boolean;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

/**
 * Why an old session was not pruned. `kept`: by `keep`. `scheduled`: it has an open schedule. `leased`: a process runs it, or one of its sub-agents, or a move, a fork or
 * an import of it has not ended. `changed`: a record was added meanwhile. `unreadable`: its log is damaged, or a newer release wrote it. `exists`: the archive has another session
 * of this id.
 */
export type KeptReason = "kept" | "scheduled" | "leased" | "changed" | "unreadable" | "exists";

/** The result of `pruneSessions`. */
export interface PruneReport {
  /** The ids of the pruned sessions, with those of their sub-agents. */
  readonly pruned: readonly string[];
  /** The old sessions that were not pruned, and why. */
  readonly kept: readonly { readonly id: string; readonly reason: KeptReason }[];
  /** The ids of the sessions that were never completed, which were removed: their fork or import was interrupted. */
  readonly incomplete: readonly string[];
}

const forms: OptionForms<PruneOptions> = {
  before: "number",
  archive: "any",
  keep: "function",
  dryRun: "boolean",
  clock: "clock",
};

/**
 * Removes the sessions of a log whose last record is older than a time, or moves them to an archive, each with the sessions of
 * its sub-agents, which are never pruned alone: the newest record of all of them counts. A session that a process runs is left, and so is one with an open schedule or without records. What an
 * interrupted fork or import has left is removed first, whatever its age, and never archived. Rejects
 * with `InvalidOption` for an option that is missing or of the wrong form, such as an archive that is the log itself, and with the errors of the logs.
 */
export async function pruneSessions(log: EventLog, options: PruneOptions): Promise<PruneReport> {
  checkIsLog(log);
  checkLogOptions("pruneSessions", options, forms);
  if (options.archive !== undefined) {
    checkIsLog(options.archive);
    checkIsOther(log, options.archive);
  }
  if (!Number.isFinite(options.before)) {
    throw new SessionError(
      "InvalidOption",
      `before must be a time in milliseconds since 1970, got ${options.before}.`,
    );
  }
  const incomplete = await removeInterruptedWrites(log, options.dryRun === true);
  const isIncomplete = new Set(incomplete);
  const pruned: string[] = [];
  const kept: { id: string; reason: KeptReason }[] = [];
  for await (const family of sessionsByFamily(log)) {
    const { id, head } = family.session;
    if (head === 0 || isIncomplete.has(id)) continue;
    const outcome = await pruneFamily(log, family, options);
    if (typeof outcome === "string") kept.push({ id, reason: outcome });
    else pruned.push(...outcome);
  }
  return { pruned, kept, incomplete };
}

/** Prunes one session with its sub-agents; returns their ids, none for a session that is not old, or why it was not pruned. */
async function pruneFamily(
  log: EventLog,
  { session, members: membersOf }: FamilyHead,
  { before, archive, keep, dryRun, clock = systemClock }: PruneOptions,
): Promise<readonly string[] | KeptReason> {
  try {
    const isOld = (time: number | undefined): time is number => time !== undefined && time < before;
    if (!isOld(await lastTimeOf(log, [session]))) return [];
    const { id, parsed: header } = session;
    if (header === undefined) return "unreadable";
    // Before `keep`: a record that one of them gets meanwhile keeps the family.
    const members = await membersOf();
    const updatedAt = await lastTimeOf(log, members);
    if (!isOld(updatedAt)) return [];
    if ((await keep?.({ id, header, updatedAt })) === true) return "kept";
    if (schedulesAt((await stateAt(log, id)).state).length > 0) return "scheduled";
    if (archive !== undefined && dryRun !== true) return await moveSession(log, id, archive, { clock });
    for (const member of members) if (await isLeased(log, member.id, clock)) return "leased";
    if (archive !== undefined) return idsOf(members.filter(({ head }) => head > 0));
    return dryRun === true ? idsOf(members) : await removeOld(log, members);
  } catch (error) {
    const reason =
      error instanceof SessionError || error instanceof LogError ? reasons[error.code] : undefined;
    if (reason === undefined) throw error;
    return reason;
  }
}

/** The errors of one session that do not end the work on the others. */
const reasons: Readonly<Partial<Record<string, KeptReason>>> = {
  SessionBusy: "leased",
  MoveUnfinished: "leased",
  SessionIncomplete: "leased",
  SessionUnknown: "changed",
  LogRemoved: "changed",
  LogCorrupt: "unreadable",
  UnsupportedVersion: "unreadable",
  LogExists: "exists",
};

/**
 * Removes sessions at their old last records, callers first: a caller without its sub-agents would run them again. A sub-agent that gets
 * a record after its caller was removed stays.
 */
async function removeOld(
  log: EventLog,
  members: readonly ListedSession[],
): Promise<readonly string[] | KeptReason> {
  for (const { id, head } of members) {
    const session = await log.open(id);
    if ((await session?.head()) !== head) return "changed";
  }
  const removed: string[] = [];
  for (const { id, head } of members.toReversed()) {
    const session = await log.open(id);
    if (session !== undefined && session.removeAt === undefined) throw noRemoveAtError(log);
    const removeEmpty = async (): Promise<boolean> => (await session?.head()) === 0 && (await log.remove(id));
    const remove = async (): Promise<boolean> =>
      head === 0 ? await removeEmpty() : (await session?.removeAt?.(head)) === true;
    if (await unlessRemoved(remove, false)) removed.unshift(id);
    else if (removed.length === 0) return "changed";
  }
  return removed;
}

/** The number of sessions that are read at once. */
const pageSize = 200;

/**
 * Removes what interrupted forks and imports have left, also the sessions of sub-agents. A copy whose writer may still write it stays.
 * Returns the ids of the removed sessions; with `dryRun` those that would be removed.
 */
async function removeInterruptedWrites(log: EventLog, dryRun: boolean): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of sessionsOf(log, { limit: pageSize })) {
    const lease = await leaseIn(log, id);
    if (lease === undefined || !isOfInterruptedWrite(lease)) continue;
    if (dryRun || (await removeInterruptedWrite(log, id))) ids.push(id);
  }
  return ids;
}

/** The time of the newest record of sessions; undefined if they have none. */
async function lastTimeOf(log: EventLog, sessions: readonly ListedSession[]): Promise<number | undefined> {
  const times: number[] = [];
  for (const { id, head } of sessions) {
    const record = (await (await log.open(id))?.read(Math.max(0, head - 1)))?.at(-1);
    if (record !== undefined) times.push(recordToInput(record).timestamp);
  }
  return times.length === 0 ? undefined : Math.max(...times);
}
