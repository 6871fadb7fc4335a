import { openSession, stateAt, type Agent, type LogListener, type SessionView } from "@moora/agent";
import { truncated } from "@moora/agent-core-effects/internal";
import type { CallAction, CallSession, ListedSession, UserSessions } from "@moora/agent/internal";
import { sessionsOf, type EventLog, digestOf, LogError, type SessionLog } from "@moora/event-log";
import { isJsonObject, textToJson } from "@moora/llm/internal";

/** What the sessions of all users share. */
export interface LogSessionsOptions {
  readonly log: EventLog;
  /** The names of the agents that are served. */
  readonly agents: ReadonlySet<string>;
  readonly onError: (error: unknown) => void;
  readonly onLog?: LogListener | undefined;
}

/** The maximum length of an id in a log; of a longer one only the beginning is repeated. */
const maxIdLength = 200;

/** The text for a client about a session that the user may not see. */
const notFoundText = (id: string): string =>
  `Session ${JSON.stringify(truncated(id, maxIdLength))} not found.`;

/** The sessions of a user in a log: those whose ids were made for this user. */
export class LogSessions implements UserSessions {
  readonly user: string;
  readonly #user: User;
  readonly #options: LogSessionsOptions;

  constructor(user: User, options: LogSessionsOptions) {
    this.user = user ?? "mcp";
    this.#user = user;
    this.#options = options;
  }

  newId(): string {
    return newSessionId(this.#user);
  }

  async refusal(action: CallAction, id: string): Promise<string | undefined> {
    if (action !== "continue") return undefined;
    const { log } = this.#options;
    return (await openVisible(log, this.#user, id)) === undefined ? notFoundText(id) : undefined;
  }

  async open(id: string, agent: Agent<unknown>): Promise<CallSession> {
    const { log, onError, onLog } = this.#options;
    const session = await openSession(agent, {
      log,
      id,
      onError: (error) => onError(error),
      ...(onLog === undefined ? {} : { onLog }),
    });
    // The results of calls show the questions, so the session need not report them as unseen.
    session.onEvent(() => undefined);
    return session;
  }

  async *list(): AsyncGenerator<ListedSession, void> {
    const { agents, log } = this.#options;
    for await (const { id, header, head } of sessionsOf(log, { limit: 200 })) {
      const agent = agentOf(header);
      if (maySee(this.#user, id) && agents.has(agent)) yield { id, agent, records: head };
    }
  }

  async messagesOf(id: string): Promise<SessionView["messages"] | undefined> {
    const { agents, log } = this.#options;
    const session = await openVisible(log, this.#user, id);
    if (session === undefined || !agents.has(agentOf(session.header))) return undefined;
    return (await stateAt(log, id)).state.messages;
  }
}

/** The name of the agent of a session; "" for a header that is not one. */
function agentOf(header: string): string {
  const parsed = textToJson(header);
  const agent = isJsonObject(parsed) ? parsed["agent"] : undefined;
  return isJsonObject(agent) && typeof agent["name"] === "string" ? agent["name"] : "";
}

/** A user of a server; undefined for the user of this machine, who may see every session of the log. */
type User = string | undefined;

/** The beginning of the ids of a user's sessions. It shows whose they are without naming the user. */
const prefixOf = (user: User): string => (user === undefined ? "mcp-" : `mcp-${digestOf(user)}-`);

/** An id for a new session, which cannot be guessed. */
const newSessionId = (user: User): string => `${prefixOf(user)}${globalThis.crypto.randomUUID()}`;

/** Whether a user may see and continue a session. */
const maySee = (user: User, id: string): boolean => user === undefined || id.startsWith(prefixOf(user));

/** Opens the log of a session that a user may see; undefined if there is none, also for what cannot be the id of one. */
async function openVisible(log: EventLog, user: User, id: string): Promise<SessionLog | undefined> {
  if (!maySee(user, id)) return undefined;
  try {
    return await log.open(id);
  } catch (error) {
    if (error instanceof LogError && error.code === "InvalidId") return undefined;
    throw error;
  }
}
