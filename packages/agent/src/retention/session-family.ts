import type { EventLog, LogInfo } from "@moora/event-log";
import { identityOf, textToHeader, type SessionHeader } from "../durable/session-header.ts";
import { SessionError } from "../durable/session-error.ts";

/** A session of a log, with its header; undefined for a header that this release cannot read. */
export interface ListedSession extends LogInfo {
  readonly parsed: SessionHeader | undefined;
}

/** The sessions of a log with those of their sub-agents, at any depth. */
export class SessionFamilies {
  readonly sessions: readonly ListedSession[];
  readonly #byIdentity: ReadonlyMap<string, ListedSession>;
  readonly #children = new Map<string, ListedSession[]>();

  constructor(infos: readonly LogInfo[]) {
    this.sessions = infos.map((info) => ({ ...info, parsed: headerOrNothing(info.header) }));
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
