import {
  maxIdLength,
  sessionsCalledBy,
  sessionsOf,
  type EventLog,
  type LogInfo,
  type SessionLog,
} from "@moora/event-log";
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

/** Finds a session with those of its sub-agents. A log without `called` lists all its sessions. */
export async function findFamily(log: EventLog, id: string): Promise<SessionFamily | undefined> {
  if (log.called !== undefined) return await findInIndex(log, id);
  const families = await listFamilies(log);
  const session = families.sessions.find((each) => each.id === id);
  return session === undefined ? undefined : { session, members: families.familyOf(session) };
}

/** Finds the sessions whose caller is a session that was removed, with those of their sub-agents. */
export const findCalled = async (log: EventLog, caller: ListedSession): Promise<readonly ListedSession[]> =>
  await familiesOf(log, await sessionsCalledBy(log, prefixOf(caller)));

/**
 * Finds the sub-agents that an interrupted removal has left of any session with this id, which the log no longer has. The key of their
 * call begins with its identity.
 */
export async function findLeft(log: EventLog, id: string): Promise<readonly ListedSession[]> {
  const left: LogInfo[] = [];
  for (const info of await sessionsCalledBy(log, `${id}/incarnation_`))
    if ((await callerIdOf(log, toListed(info))) === undefined) left.push(info);
  return await familiesOf(log, left);
}

/** Sessions with those of their sub-agents, each after those that it calls. */
async function familiesOf(log: EventLog, called: readonly LogInfo[]): Promise<readonly ListedSession[]> {
  if (called.length === 0) return [];
  const families = log.called === undefined ? await listFamilies(log) : undefined;
  const members: ListedSession[] = [];
  for (const session of called.map(toListed))
    members.push(...(families?.familyOf(session) ?? (await membersOf(log, session))));
  return members;
}

async function findInIndex(log: EventLog, id: string): Promise<SessionFamily | undefined> {
  const session = await findSession(log, id);
  return session === undefined ? undefined : { session, members: await membersOf(log, session) };
}

async function membersOf(
  log: EventLog,
  session: ListedSession,
  seen: ReadonlySet<string> = new Set(),
): Promise<readonly ListedSession[]> {
  const known = new Set([...seen, session.id]);
  const members: ListedSession[] = [];
  for (const called of await sessionsCalledBy(log, prefixOf(session))) {
    const child = toListed(called);
    if (!known.has(child.id) && (await isCaller(log, session, child)))
      members.push(...(await membersOf(log, child, known)));
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

/** The sessions of a log with those of their sub-agents, at any depth. */
class SessionFamilies {
  readonly sessions: readonly ListedSession[];
  readonly #byIdentity: ReadonlyMap<string, ListedSession>;
  readonly #children = new Map<string, ListedSession[]>();

  constructor(infos: readonly LogInfo[]) {
    this.sessions = infos.map(toListed);
    this.#byIdentity = new Map(
      this.sessions.map((session) => [identityOf(session.id, session.parsed ?? {}), session]),
    );
    for (const session of this.sessions) {
      const caller = this.callerOf(session);
      if (caller === undefined) continue;
      const children = this.#children.get(caller.id);
      if (children === undefined) this.#children.set(caller.id, [session]);
      else children.push(session);
    }
  }

  /** The session that calls this one; undefined for a session of its own, and for one whose caller is not in the log. */
  callerOf({ id, parsed }: ListedSession): ListedSession | undefined {
    const key = parsed?.caller;
    if (key === undefined) return undefined;
    // The key is the identity of the caller, a slash, and the id of the call, which may contain slashes.
    for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
      const caller = this.#byIdentity.get(key.slice(0, end));
      if (caller !== undefined && caller.id !== id) return caller;
    }
    return undefined;
  }

  /** A session and all sessions that were opened for calls of it, each after those that it calls. */
  familyOf(session: ListedSession, seen: ReadonlySet<string> = new Set()): readonly ListedSession[] {
    const known = new Set([...seen, session.id]);
    const children = (this.#children.get(session.id) ?? []).filter(({ id }) => !known.has(id));
    return [...children.flatMap((child) => this.familyOf(child, known)), session];
  }
}

/** The number of sessions that are read at once. */
const pageSize = 200;

/**
 * Lists the sessions that no other one of the log calls, each with a function that returns its family. A log with pages and an index of
 * callers is read page by page; of any other, all sessions are read at once.
 */
export async function* sessionsByFamily(log: EventLog): AsyncGenerator<FamilyHead, void> {
  if (log.page === undefined || log.called === undefined) {
    const families = await listFamilies(log);
    for (const session of families.sessions) {
      if (families.callerOf(session) === undefined)
        yield { session, members: async () => families.familyOf(session) };
    }
    return;
  }
  for await (const info of sessionsOf(log, { limit: pageSize })) {
    const session = toListed(info);
    if ((await callerIdOf(log, session)) === undefined)
      yield { session, members: () => membersOf(log, session) };
  }
}

/** Lists the sessions of a log by family. */
const listFamilies = async (log: EventLog): Promise<SessionFamilies> => new SessionFamilies(await log.list());

function headerOrNothing(text: string): SessionHeader | undefined {
  try {
    return textToHeader(text);
  } catch (error) {
    if (error instanceof SessionError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
