import type { Agent } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { createAgentServer, type AgentServer, type AgentServerOptions, type Connection } from "@moora/server";
import { EventReader } from "./event-reader.ts";

/** Authenticates by `authorization: Bearer NAME`. */
export const byName = (request: Request): { user: string } | undefined => {
  const [, user] = /^Bearer (\w+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  return user === undefined ? undefined : { user };
};

/** The options of a scene. `authorize: null` is a server without it; otherwise names are users. */
export type SceneOptions = Partial<Omit<AgentServerOptions, "authorize">> & {
  readonly authorize?: AgentServerOptions["authorize"] | null;
};

/** A server with a client that has a name. */
export class Scene implements AsyncDisposable {
  readonly log: EventLog;
  readonly server: AgentServer;
  readonly errors: unknown[] = [];

  constructor(agent: Agent<unknown> | readonly Agent<unknown>[], options: SceneOptions = {}) {
    const { authorize = byName, ...others } = options;
    this.log = options.log ?? memoryLog();
    this.server = createAgentServer({
      agents: Array.isArray(agent) ? agent : [agent as Agent<unknown>],
      onError: (error) => void this.errors.push(error),
      ...others,
      ...(authorize === null ? {} : { authorize }),
      log: this.log,
    });
  }

  as(user: string): Client {
    return new Client((path, init, connection) =>
      this.server.fetch(
        new Request(`http://localhost${path}`, withHeaders(init, { authorization: `Bearer ${user}` })),
        connection,
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    await this.log.close();
  }
}

const withHeaders = (init: RequestInit, headers: Readonly<Record<string, string>>): RequestInit => ({
  ...init,
  headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
});

type Send = (path: string, init: RequestInit, connection?: Connection) => Promise<Response>;

export interface Answer {
  readonly status: number;
  // The body of a response, as a test expects it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly headers: Headers;
}

/** A client of the routes. */
export class Client {
  readonly send: Send;

  constructor(send: Send) {
    this.send = send;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return await answerOf(await this.send(path, { headers }));
  }

  async delete(path: string): Promise<Answer> {
    return await answerOf(await this.send(path, { method: "DELETE" }));
  }

  async post(
    path: string,
    body: unknown = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const init = { method: "POST", body: JSON.stringify(body) };
    return await answerOf(
      await this.send(path, withHeaders(init, { "content-type": "application/json", ...headers })),
    );
  }

  async create(agent = "helper"): Promise<string> {
    const { status, body } = await this.post(`/agents/${agent}/sessions`);
    if (status !== 201) throw new Error(`No session: ${status} ${JSON.stringify(body)}`);
    return body.id;
  }

  /** Opens the stream of a session. */
  async events(
    id: string,
    after?: number,
    headers: Readonly<Record<string, string>> = {},
    connection?: Connection,
  ): Promise<EventReader> {
    const query = after === undefined ? "" : `?after=${after}`;
    const response = await this.send(`/sessions/${id}/events${query}`, { headers }, connection);
    if (response.status !== 200 || response.body === null)
      throw new Error(`No stream: ${response.status} ${await response.text()}`);
    return new EventReader(response.body);
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    body: text === "" ? undefined : JSON.parse(text),
    headers: response.headers,
  };
}

/** The numbers from one to another. */
export const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
