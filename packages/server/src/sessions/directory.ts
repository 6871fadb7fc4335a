import { LogError } from "@moora/agent";
import { sessionsOf, type LogInfo } from "@moora/event-log";
import type { SessionSummary } from "@moora/agent-webui-protocol";
import { forbidden, type Access } from "../access/authorization.ts";
import type { SessionAction, SessionRef } from "../access/grant.ts";
import { sessionNotFound } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import { summaryOf, type ListedSession } from "./listed-session.ts";
import type { SessionDetails } from "./session-details.ts";
import { headerToRef } from "./session-header.ts";

/** A page of the list of sessions. */
interface ListQuery {
  /** The id of the last session of the page before. */
  readonly after: string;
  /** The length of the page. */
  readonly limit: number;
  /** Reads what each session has beside its position. Default: nothing is read. */
  readonly details?: SessionDetails;
}

/** Finds sessions in the log, with their owners. */
export class SessionDirectory {
  readonly #context: Pick<ServerContext, "log" | "agents">;

  constructor(context: Pick<ServerContext, "log" | "agents">) {
    this.#context = context;
  }

  /** The session of an id; undefined if there is none with an agent of this server. */
  async find(id: string): Promise<SessionRef | undefined> {
    return (await this.#open(id))?.ref;
  }

  /** Whether the user may remove a session, also one of an agent that this server does not have, such as a sub-agent. */
  async mayRemove(access: Access, { id, header }: LogInfo): Promise<boolean> {
    const ref = headerToRef(id, header);
    return ref !== undefined && (await access.may("remove", ref));
  }

  /**
   * The session of an id, for an action. A session that the user may not read gets the same answer as one that does not exist.
   * Throws `HttpProblem`.
   */
  async findFor(access: Access, action: SessionAction, id: string): Promise<SessionRef> {
    const found = await this.findTaken(access, action, id);
    if (found === undefined) throw sessionNotFound();
    return found;
  }

  /** As `findFor`; undefined if the log has no session of the id, not even one of another server. */
  async findTaken(access: Access, action: SessionAction, id: string): Promise<SessionRef | undefined> {
    const found = await this.#open(id);
    if (found === undefined) return undefined;
    const { ref } = found;
    if (ref === undefined) throw sessionNotFound();
    if (await access.may(action, ref)) return ref;
    if (action === "read" || !(await access.may("read", ref))) throw sessionNotFound();
    throw forbidden(action);
  }

  /** The own sessions of a user after a cursor, ordered by id, and whether more follow. A fork that lacks records is not one of them. */
  async page(
    access: Access,
    { after, limit, details }: ListQuery,
  ): Promise<{ readonly sessions: readonly SessionSummary[]; readonly hasMore: boolean }> {
    const sessions: SessionSummary[] = [];
    const batch: ListedSession[] = [];
    const own = sessionsOf(this.#context.log, { users: [access.user, null], after, limit: limit + 1 });
    for await (const { id, head, header } of own) {
      const ref = this.refOf(id, header);
      if (ref === undefined || !(await this.#isOwn(access, ref))) continue;
      batch.push({ summary: { id, agent: ref.agent, seq: head }, header });
      if (sessions.length + batch.length <= limit) continue;
      sessions.push(...(await this.#summariesOf(batch.splice(0), details)));
      if (sessions.length > limit) break;
    }
    sessions.push(...(await this.#summariesOf(batch, details)));
    return { sessions: sessions.slice(0, limit), hasMore: sessions.length > limit };
  }

  async #summariesOf(
    listed: readonly ListedSession[],
    details: SessionDetails | undefined,
  ): Promise<readonly SessionSummary[]> {
    const { log } = this.#context;
    const summaries = await Promise.all(listed.map(async (each) => await summaryOf(log, each, details)));
    return summaries.filter((summary) => summary !== undefined);
  }

  /** What the log has of an id. `ref` is undefined for an invalid id, and for a session without an agent of this server. */
  async #open(id: string): Promise<{ readonly ref: SessionRef | undefined } | undefined> {
    try {
      const log = await this.#context.log.open(id);
      return log === undefined ? undefined : { ref: this.refOf(id, log.header) };
    } catch (error) {
      if (error instanceof LogError && error.code === "InvalidId") return { ref: undefined };
      throw error;
    }
  }

  async #isOwn(access: Access, ref: SessionRef): Promise<boolean> {
    return (ref.user === access.user || ref.user === null) && (await access.may("read", ref));
  }

  /** The session of a header; undefined for one without an agent of this server. */
  refOf(id: string, header: string): SessionRef | undefined {
    const ref = headerToRef(id, header);
    return ref !== undefined && this.#context.agents.has(ref.agent) ? ref : undefined;
  }
}
