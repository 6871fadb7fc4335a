import {
  foldHeader,
  newSessionHeader,
  recordInputs,
  userMessage,
  type Agent,
  type AgentInput,
} from "@moora/agent";
import { foldRecords } from "@moora/agent/internal";
import {
  LogError,
  type DisposableLog,
  type EventLog,
  type LogRecord,
  type SessionLog,
} from "@moora/event-log";
import { restateLog, type RestateOptions } from "../src/index.ts";
import { serveLocally, type LocalService } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

let count = 0;

/** An id that no other test has. */
export const newId = (): string => `session-${(count += 1)}`;

/** Restate with an agent that the process of the test serves, and logs of its sessions. */
export class LogScene implements AsyncDisposable {
  readonly server: RestateServer;
  readonly agent: Agent;
  readonly log: DisposableLog;
  readonly #service: LocalService;

  private constructor(server: RestateServer, agent: Agent, service: LocalService) {
    this.server = server;
    this.agent = agent;
    this.#service = service;
    this.log = this.openLog();
  }

  static async start(agent: Agent, options: Partial<RestateOptions> = {}): Promise<LogScene> {
    const server = await RestateServer.start();
    return new LogScene(server, agent, await serveLocally(server, agent, options));
  }

  /** Opens a log, as another process would. */
  openLog(agent = this.agent.name): DisposableLog {
    const { ingressUrl, adminUrl } = this.server;
    return restateLog({ ingressUrl, adminUrl, agent });
  }

  /** Makes the deployment of the agent the newest one. */
  async register(): Promise<void> {
    await this.#service.register();
  }

  header(incarnation = "one"): string {
    return newSessionHeader(this.agent, incarnation);
  }

  async create(id = newId()): Promise<SessionLog> {
    return await this.log.create(id, this.header());
  }

  /** A session with a message and a model call that has begun: further messages start no effects. */
  async createBusy(): Promise<SessionLog> {
    const session = await this.create();
    await post(session, userMessage("first", { messageId: "first" }));
    while ((await session.head()) < 2);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.log.close();
    await this.#service[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Opens a session that must exist. */
export async function opened(log: EventLog, id: string): Promise<SessionLog> {
  const session = await log.open(id);
  if (session === undefined) throw new Error(`There is no session ${id}.`);
  return session;
}

/** The records that inputs make at the end of a session. */
export async function recordsOf(
  session: SessionLog,
  ...inputs: readonly AgentInput[]
): Promise<readonly LogRecord[]> {
  const folded = await foldRecords(foldHeader(session.header), await session.read());
  return recordInputs(folded, inputs).records;
}

/** Appends inputs at the end of a session, also if other records are added meanwhile. */
export async function post(session: SessionLog, ...inputs: readonly AgentInput[]): Promise<void> {
  for (;;) {
    const records = await recordsOf(session, ...inputs);
    try {
      return await session.append((records[0]?.seq ?? 1) - 1, records);
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "Conflict") throw error;
    }
  }
}
