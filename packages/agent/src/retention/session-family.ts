import { maxIdLength, sessionsCalledBy, type EventLog, type LogInfo } from "@moora/event-log";
import { identityOf, textToHeader, type SessionHeader } from "../durable/session-header.ts";
import { SessionError } from "../durable/session-error.ts";

/** A session of a log, with its header; undefined for a header that this release cannot read. */
export interface ListedSession extends LogInfo {
  readonly parsed: SessionHeader | undefined;
}

/** A session with those of its sub-agents, at any depth, each after those that it calls: the session is the last one. */
export interface SessionFamily {
  readonly session: ListedSession;
  readonly members: readonly ListedSession[];
}

/** Finds a session with those of its sub-agents. A log without `called` lists all its sessions. */
export async function findFamily(log: EventLog, id: string): Promise<SessionFamily | undefined> {
  if (log.called !== undefined) return await findInIndex(log, id);
  const families = await listFamilies(log);
  const session = families.sessions.find((each) => each.id === id);
  return session === undefined ? undefined : { session, members: families.familyOf(session) };
}

/** Finds the sessions whose caller is a session that was removed, with those of their sub-agents. */
export async function findCalled(log: EventLog, caller: ListedSession): Promise<readonly ListedSession[]> {
  const called = await sessionsCalledBy(log, prefixOf(caller));
  if (called.length === 0) return [];
  const families = log.called === undefined ? await listFamilies(log) : undefined;
  const members: ListedSession[] = [];
  for (const session of called.map(toListed))
    members.push(...(families?.familyOf(session) ?? (await membersOf(log, session))));
  return members;
}

async function findInIndex(log: EventLog, id: string): Promise<SessionFamily | undefined> {
  const found = await log.open(id);
  if (found === undefined) return undefined;
  const session = toListed({ id, header: found.header, head: await found.head() });
  return { session, members: await membersOf(log, session) };
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
async function isCaller(
  log: EventLog,
  session: ListedSession,
  { id, parsed }: ListedSession,
): Promise<boolean> {
  const key = parsed?.caller ?? "";
  const { length } = identityOf(session.id, session.parsed ?? {});
  for (let end = key.lastIndexOf("/"); end >= length; end = key.lastIndexOf("/", end - 1)) {
    const other = await idOfIdentity(log, key.slice(0, end));
    if (other !== undefined && other !== id) return other === session.id;
  }
  return false;
}

/** The id of the session of an identity: the id and the incarnation, or the id alone for a session without an incarnation. */
async function idOfIdentity(log: EventLog, identity: string): Promise<string | undefined> {
  const ids = [identity, identity.slice(0, Math.max(0, identity.lastIndexOf("/")))];
  for (const id of ids) {
    if (id === "" || id.length > maxIdLength || !id.isWellFormed()) continue;
    const header = (await log.open(id))?.header;
    if (header !== undefined && identityOf(id, headerOrNothing(header) ?? {}) === identity) return id;
  }
  return undefined;
}

/** What the keys of the calls of a session begin with. */
const prefixOf = ({ id, parsed }: ListedSession): string => `${identityOf(id, parsed ?? {})}/`;

const toListed = (info: LogInfo): ListedSession => ({ ...info, parsed: headerOrNothing(info.header) });

/** The sessions of a log with those of their sub-agents, at any depth. */
export class SessionFamilies {
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

/** Lists the sessions of a log by family. */
export const listFamilies = async (log: EventLog): Promise<SessionFamilies> =>
  new SessionFamilies(await log.list());

function headerOrNothing(text: string): SessionHeader | undefined {
  try {
    return textToHeader(text);
  } catch (error) {
    if (error instanceof SessionError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
