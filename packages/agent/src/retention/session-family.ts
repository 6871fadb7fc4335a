import {
  maxIdLength,
  sessionsOf,
  type EventLog,
  type LogInfo,
  type MaybePromise,
  type SessionLog,
} from "@moora/event-log";
import { callsOf } from "@moora/event-log/store";
import { identityOf, textToHeader, type SessionHeader } from "../durable/session-header.ts";
import { SessionError } from "../durable/session-error.ts";
import { unlessRemoved } from "../durable/unless-removed.ts";

/** A session of a log, with its header; undefined for a header that this release cannot read. */
export interface ListedSession extends LogInfo {
  readonly parsed: SessionHeader | undefined;
}

/** A session with those of its sub-agents, at any depth, each after those that it calls: the session is the last one. */
export interface SessionFamily {
  readonly session: ListedSession;
  readonly members: readonly ListedSession[];
}

/** A session that no other one of its log calls. */
export interface FamilyHead {
  readonly session: ListedSession;
  /** Returns the session and those of its sub-agents, each after those that it calls. */
  readonly members: () => Promise<readonly ListedSession[]>;
}

/** Returns the sessions whose header has a field `caller` that begins with a text. */
type Calls = (prefix: string) => MaybePromise<readonly LogInfo[]>;

/** A log without `called` lists all its sessions, once. */
async function callsIn(log: EventLog): Promise<Calls> {
  if (log.called !== undefined) return (prefix) => log.called?.(prefix) ?? [];
  const sessions = await log.list();
  return (prefix) => callsOf(sessions, prefix);
}

/**
 * Finds a session of a log; undefined also for one that is removed meanwhile, and for a damaged header. The head of a session whose records
 * are damaged is 0 if its log cannot find it.
 */
export async function findSession(log: EventLog, id: string): Promise<ListedSession | undefined> {
  const found = await openReadable(log, id);
  const headOf = async (): Promise<number | undefined> => await found?.head();
  const head = await unlessRemoved(() => unlessRemoved(headOf, 0, "LogCorrupt"), undefined);
  return found === undefined || head === undefined ? undefined : toListed({ id, header: found.header, head });
}

/** Opens a session of a log; undefined for a damaged header. A damaged session can be removed, and has no other work. */
export const openReadable = async (log: EventLog, id: string): Promise<SessionLog | undefined> =>
  await unlessRemoved(async () => await log.open(id), undefined, "LogCorrupt");

/** Finds a session with those of its sub-agents. */
export async function findFamily(log: EventLog, id: string): Promise<SessionFamily | undefined> {
  const session = await findSession(log, id);
  return session && { session, members: await membersOf(log, await callsIn(log), session) };
}

/** Finds the sessions whose caller is a session that was removed, with those of their sub-agents. */
export async function findCalled(log: EventLog, caller: ListedSession): Promise<readonly ListedSession[]> {
  const calls = await callsIn(log);
  return await familiesOf(log, calls, await calls(prefixOf(caller)));
}

/**
 * Finds the sub-agents that an interrupted removal has left of any session with this id, which the log no longer has. The key of their
 * call begins with its identity.
 */
export async function findLeft(log: EventLog, id: string): Promise<readonly ListedSession[]> {
  const calls = await callsIn(log);
  const left: LogInfo[] = [];
  for (const info of await calls(`${id}/incarnation_`))
    if ((await callerIdOf(log, toListed(info))) === undefined) left.push(info);
  return await familiesOf(log, calls, left);
}

/** Sessions with those of their sub-agents, each after those that it calls. */
async function familiesOf(
  log: EventLog,
  calls: Calls,
  called: readonly LogInfo[],
): Promise<readonly ListedSession[]> {
  const members: ListedSession[] = [];
  for (const session of called) members.push(...(await membersOf(log, calls, toListed(session))));
  return members;
}

async function membersOf(
  log: EventLog,
  calls: Calls,
  session: ListedSession,
  seen: ReadonlySet<string> = new Set(),
): Promise<readonly ListedSession[]> {
  const known = new Set([...seen, session.id]);
  const members: ListedSession[] = [];
  for (const called of await calls(prefixOf(session))) {
    const child = toListed(called);
    if (!known.has(child.id) && (await isCaller(log, session, child)))
      members.push(...(await membersOf(log, calls, child, known)));
  }
  return [...members, session];
}

/** Whether a session is the caller of another one whose key begins with its identity: no session with a longer identity is. */
async function isCaller(log: EventLog, session: ListedSession, called: ListedSession): Promise<boolean> {
  const { length } = identityOf(session.id, session.parsed ?? {});
  return (await callerIdOf(log, called, length)) === session.id;
}

/**
 * The id of the session that calls another one; undefined for a session of its own, and for one whose caller is not in the log. The
 * identity of the caller has at least `shortest` characters.
 */
export async function callerIdOf(
  log: EventLog,
  { id, parsed }: ListedSession,
  shortest = 1,
): Promise<string | undefined> {
  // The key is the identity of the caller, a slash, and the id of the call, which may contain slashes.
  const key = parsed?.caller ?? "";
  for (let end = key.lastIndexOf("/"); end >= shortest; end = key.lastIndexOf("/", end - 1)) {
    const other = await idOfIdentity(log, key.slice(0, end));
    if (other !== undefined && other !== id) return other;
  }
  return undefined;
}

/** The id of the session of an identity: the id and the incarnation, or the id alone for a session without an incarnation. */
async function idOfIdentity(log: EventLog, identity: string): Promise<string | undefined> {
  const ids = [identity, identity.slice(0, Math.max(0, identity.lastIndexOf("/")))];
  for (const id of ids) {
    if (id === "" || id.length > maxIdLength || !id.isWellFormed()) continue;
    const header = (await openReadable(log, id))?.header;
    if (header !== undefined && identityOf(id, headerOrNothing(header) ?? {}) === identity) return id;
  }
  return undefined;
}

export const idsOf = (sessions: readonly ListedSession[]): readonly string[] => sessions.map(({ id }) => id);

/** What the keys of the calls of a session begin with. */
const prefixOf = ({ id, parsed }: ListedSession): string => `${identityOf(id, parsed ?? {})}/`;

const toListed = (info: LogInfo): ListedSession => ({ ...info, parsed: headerOrNothing(info.header) });

/** The number of sessions that are read at once. */
const pageSize = 200;

/** Lists the sessions that no other one of the log calls, each with a function that returns its family, page by page where the log has pages. */
export async function* sessionsByFamily(log: EventLog): AsyncGenerator<FamilyHead, void> {
  const calls = await callsIn(log);
  for await (const info of sessionsOf(log, { limit: pageSize })) {
    const session = toListed(info);
    if ((await callerIdOf(log, session)) === undefined)
      yield { session, members: () => membersOf(log, calls, session) };
  }
}

function headerOrNothing(text: string): SessionHeader | undefined {
  try {
    return textToHeader(text);
  } catch (error) {
    if (error instanceof SessionError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
