import { LogError } from "@moora/agent";
import { isOfWrite } from "@moora/agent/internal";
import { sessionsOf, type LogInfo } from "@moora/event-log";
import type { SessionSummary } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import type { Access, SessionAction, SessionRef } from "../access/authorization.ts";
import { HttpProblem, sessionNotFound } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";

const headerSchema = z.object({
  agent: z.object({ name: z.string() }),
  user: z.exactOptional(z.string()),
  caller: z.exactOptional(z.string()),
  parent: z.exactOptional(z.unknown()),
});

/** The session of a header; undefined for a header that is not one of a session. */
function headerToRef(id: string, header: string): SessionRef | undefined {
  const parsed = headerSchema.safeParse(textToJson(header));
  if (!parsed.success) return undefined;
  const { agent, user = null } = parsed.data;
  return { id, agent: agent.name, user };
}

/** Whether a header is that of the session of a sub-agent, which only the owner of its caller's session runs. */
export function isOfSubAgent(header: string): boolean {
  const parsed = headerSchema.safeParse(textToJson(header));
  return parsed.success && parsed.data.caller !== undefined;
}

/** Whether a header is that of a fork. */
export function isOfFork(header: string): boolean {
  const parsed = headerSchema.safeParse(textToJson(header));
  return parsed.success && parsed.data.parent !== undefined;
}

/** The value of a JSON text; undefined for a text that is not JSON. */
export function textToJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Finds sessions in the log, with their owners. */
export class SessionDirectory {
  readonly #context: Pick<ServerContext, "log" | "agents">;

  constructor(context: Pick<ServerContext, "log" | "agents">) {
    this.#context = context;
  }

  /** The session of an id; undefined if there is none with an agent of this server. */
  async find(id: string): Promise<SessionRef | undefined> {
    try {
      const log = await this.#context.log.open(id);
      return log === undefined ? undefined : this.refOf(id, log.header);
    } catch (error) {
      if (error instanceof LogError && error.code === "InvalidId") return undefined;
      throw error;
    }
  }

  /** Whether the log has no session of an id, not even one of another server. False for an invalid id. */
  async isFree(id: string): Promise<boolean> {
    try {
      return (await this.#context.log.open(id)) === undefined;
    } catch (error) {
      if (error instanceof LogError && error.code === "InvalidId") return false;
      throw error;
    }
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
    const ref = await this.find(id);
    if (ref === undefined) throw sessionNotFound();
    if (await access.may(action, ref)) return ref;
    if (action === "read" || !(await access.may("read", ref))) throw sessionNotFound();
    throw new HttpProblem("forbidden", `You may not ${action} this session.`);
  }

  /** The own sessions of a user after a cursor, ordered by id, and whether more follow. A fork that lacks records is not one of them. */
  async page(
    access: Access,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<{ readonly sessions: readonly SessionSummary[]; readonly hasMore: boolean }> {
    const sessions: SessionSummary[] = [];
    const own = sessionsOf(this.#context.log, { users: [access.user, null], after, limit: limit + 1 });
    for await (const { id, head, header } of own) {
      const ref = this.refOf(id, header);
      if (ref === undefined || !(await this.#isOwn(access, ref))) continue;
      if (isOfFork(header) && (await this.#lacksRecords(id))) continue;
      if (sessions.length === limit) return { sessions, hasMore: true };
      sessions.push({ id, agent: ref.agent, seq: head });
    }
    return { sessions, hasMore: false };
  }

  async #isOwn(access: Access, ref: SessionRef): Promise<boolean> {
    return (ref.user === access.user || ref.user === null) && (await access.may("read", ref));
  }

  /** Whether a session is being written, or its writing was interrupted. */
  async #lacksRecords(id: string): Promise<boolean> {
    const lease = await (await this.#context.log.open(id))?.currentLease();
    return lease !== undefined && isOfWrite(lease);
  }

  /** The session of a header; undefined for one without an agent of this server. */
  refOf(id: string, header: string): SessionRef | undefined {
    const ref = headerToRef(id, header);
    return ref !== undefined && this.#context.agents.has(ref.agent) ? ref : undefined;
  }
}
