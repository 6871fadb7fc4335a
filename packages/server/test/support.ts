import {
  defineAgent,
  defineTool,
  type Agent,
  type AgentConfigChange,
  type AnyData,
  type DataDefinition,
  type Tool,
} from "@moora/agent";
import {
  chunkEventSchema,
  inputEventSchema,
  type ChunkEvent,
  type InputEvent,
} from "@moora/agent-webui-protocol";
import { memoryLog, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, fails, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { turn, type TestClock } from "@moora/testbed/test-clock";
import {
  createAgentServer,
  type AgentServer,
  type AgentServerOptions,
  type Connection,
} from "../src/index.ts";

/** A tool that takes any object. */
export const toolOf = (
  name: string,
  execute: Parameters<typeof defineTool>[0]["execute"] = () => "ok",
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool => defineTool({ name, description: `Does ${name}.`, input: { type: "object" }, execute, ...more });

/**
 * A model whose first call streams the beginning of a call of `pay`, and then fails, waits, calls it with other arguments, or
 * answers. Its later calls follow a script.
 */
export function draftingLlm(end: "fails" | "hangs" | "differs" | "answers", script: MockScript): LlmCaller {
  const later = new MockLlmCaller(script);
  let isFirst = true;
  return {
    name: "drafting",
    async call(request, options = {}) {
      if (!isFirst) return await later.call(request, options);
      isFirst = false;
      options.onChunk?.({ type: "tool-call", index: 0, name: "pay" });
      options.onChunk?.({ type: "tool-call-delta", index: 0, text: '{"cents":' });
      if (end === "answers") return answers("I changed my mind.");
      if (end === "fails") return fails("overloaded");
      if (end === "differs") return callsTools([{ name: "pay", arguments: { euros: 7 } }]);
      return await new MockLlmCaller([hangs()]).call(request, options);
    },
  };
}

export const agentOf = (
  script: MockScript | LlmCaller,
  more: {
    readonly name?: string;
    readonly tools?: readonly Tool[];
    readonly config?: AgentConfigChange;
    readonly data?: AnyData;
  } = {},
): Agent =>
  defineAgent({
    llm: typeof script === "object" && "call" in script ? script : new MockLlmCaller(script),
    name: "helper",
    ...(more as { data?: DataDefinition }),
  });

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

export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads the events of a stream, one after the other, by the rules of server-sent events. */
export class EventReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";
  readonly inputs: InputEvent[] = [];
  readonly chunks: ChunkEvent[] = [];

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** The next event; undefined at the end. */
  async next(): Promise<ReadEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end < 0) {
        const { done, value } = await this.#reader.read();
        if (done) return undefined;
        this.#text += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const lines = this.#text.slice(0, end).split("\n");
      this.#text = this.#text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data === undefined) continue;
      const event = { id: field("id"), event: field("event"), data };
      if (event.event === "input") this.inputs.push(inputEventSchema.parse(JSON.parse(data)));
      if (event.event === "chunk") this.chunks.push(chunkEventSchema.parse(JSON.parse(data)));
      return event;
    }
  }

  /** Reads until a record of this type. */
  async until(type: string): Promise<InputEvent> {
    for (;;) {
      const before = this.inputs.length;
      if ((await this.next()) === undefined) throw new Error(`The stream ended before ${type}.`);
      const last = this.inputs.at(-1);
      if (this.inputs.length > before && last?.input.type === type) return last;
    }
  }

  /** Reads until a sub-agent asks. */
  async question(): Promise<Extract<ChunkEvent, { type: "question" }>> {
    for (;;) {
      const before = this.chunks.length;
      if ((await this.next()) === undefined) throw new Error("The stream ended before a question.");
      const last = this.chunks.at(-1);
      if (this.chunks.length > before && last?.type === "question") return last;
    }
  }

  /** Reads the whole stream. */
  async all(): Promise<readonly number[]> {
    while ((await this.next()) !== undefined);
    return this.seqs;
  }

  get seqs(): readonly number[] {
    return this.inputs.map(({ seq }) => seq);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Moves the clock second by second until the assertion passes. */
export async function pollsUntil(clock: TestClock, assertion: () => Promise<void>): Promise<void> {
  for (let polls = 0; ; polls += 1) {
    await clock.advanceAsync(1_000);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    try {
      return await assertion();
    } catch (error) {
      if (polls >= 60) throw error;
    }
  }
}

/** The numbers from one to another. */
export const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
