import { InputRefused, stateAt, type Agent, type SessionView } from "@moora/agent";
import type { CallAction, CallSession, ListedSession, UserSessions } from "@moora/agent/internal";
import { requireRight, type Access } from "../access/authorization.ts";
import type { SessionAction, SessionRef } from "../access/grant.ts";
import { HttpProblem, sessionNotFound } from "../problem.ts";
import { newSessionId } from "../sessions/new-session.ts";
import type { ServerParts } from "../server-parts.ts";
import type { SessionHold } from "../sessions/session-pool.ts";
import { PooledSession } from "./pooled-session.ts";

const rights: Readonly<Record<CallAction, SessionAction>> = {
  continue: "post",
  decide: "decide",
  cancel: "cancel",
};

/** The number of sessions that are read at once. */
const pageLength = 200;

/** The sessions of this server for one request to `/mcp`: those that the other routes have, with the same rights. */
export class RequestSessions implements UserSessions {
  readonly user: string;
  readonly #parts: ServerParts;
  readonly #access: Access;
  readonly #newIds = new Set<string>();

  constructor(parts: ServerParts, access: Access) {
    this.user = access.user;
    this.#parts = parts;
    this.#access = access;
  }

  newId(): string {
    const id = newSessionId();
    this.#newIds.add(id);
    return id;
  }

  async refusal(action: CallAction, id: string): Promise<string | undefined> {
    try {
      await this.#find(rights[action], id);
      return undefined;
    } catch (error) {
      if (error instanceof HttpProblem) return error.message;
      throw error;
    }
  }

  async open(id: string, agent: Agent<unknown>): Promise<CallSession> {
    try {
      return new PooledSession(this.#parts, this.user, await this.#hold(id, agent.name));
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      throw new InputRefused({ code: error.code, path: "", message: error.message });
    }
  }

  async *list(): AsyncGenerator<ListedSession, void> {
    let after = "";
    for (;;) {
      const { sessions, hasMore } = await this.#parts.directory.page(this.#access, {
        after,
        limit: pageLength,
      });
      for (const { id, agent, seq } of sessions) yield { id, agent, records: seq };
      const last = sessions.at(-1);
      if (!hasMore || last === undefined) return;
      after = last.id;
    }
  }

  async messagesOf(id: string): Promise<SessionView["messages"] | undefined> {
    const ref = await this.#parts.directory.find(id);
    if (ref === undefined || !(await this.#access.may("read", ref))) return undefined;
    return (await stateAt(this.#parts.context.log, id)).state.messages;
  }

  async #hold(id: string, agent: string): Promise<SessionHold> {
    const ref = this.#newIds.has(id) ? await this.#newRef(id, agent) : await this.#find("post", id);
    if (ref.agent !== agent) throw sessionNotFound();
    return await this.#parts.pool.hold(ref);
  }

  /** Throws `forbidden` without the rights to create a session, and to post to it and to read its answer. */
  async #newRef(id: string, agent: string): Promise<SessionRef> {
    const ref = { id, agent, user: this.user };
    for (const action of ["create", "read", "post"] as const) await requireRight(this.#access, action, ref);
    return ref;
  }

  /** A session that the user may read, for an action. Throws `HttpProblem`. */
  async #find(action: SessionAction, id: string): Promise<SessionRef> {
    const ref = await this.#parts.directory.findFor(this.#access, "read", id);
    await requireRight(this.#access, action, ref);
    return ref;
  }
}
