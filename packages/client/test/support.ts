import {
  canonicalJson,
  defineAgent,
  defineTool,
  type Agent,
  type AgentEvent,
  type AnyData,
  type DataDefinition,
  type Tool,
} from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { createAgentServer, type AgentServer, type AgentServerOptions } from "@moora/server";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { connectSession, type ConnectOptions, type RemoteSession, type ServerOptions } from "../src/index.ts";

export const toolOf = (
  name: string,
  execute: Parameters<typeof defineTool>[0]["execute"] = () => "ok",
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool => defineTool({ name, description: `Does ${name}.`, input: { type: "object" }, execute, ...more });

export const agentOf = (
  script: MockScript | LlmCaller,
  more: { readonly tools?: readonly Tool[]; readonly data?: AnyData } = {},
): Agent =>
  defineAgent({
    llm: typeof script === "object" && "call" in script ? script : new MockLlmCaller(script),
    name: "helper",
    ...(more as { data?: DataDefinition }),
  });

/** The network between a client and the server of a scene. */
export class Network {
  readonly #scene: Scene;
  readonly #connections = new Set<AbortController>();
  isOnline = true;
  /** The requests that have reached the server: method and path. */
  readonly requests: string[] = [];
  /** Their bodies. */
  readonly bodies: string[] = [];
  /** Whether the data changes before each change of it arrives. */
  isDataBusy = false;
  /** Loses the response of the next request that changes something, after the server has applied it. */
  losesNextReceipt = false;
  /** Whether streams are dead without a sign: what the server sends on them does not arrive. */
  holdsRecords = false;
  /** Whether chunks that arrive together are lost on their way. */
  losesChunks: () => boolean = () => false;
  /** Answers the next request instead of the server. */
  nextResponse: Response | undefined;
  /** The times of all attempts, those without a network, too. */
  readonly attempts: number[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    this.attempts.push(this.#scene.clock.now());
    if (!this.isOnline) throw new TypeError("There is no network.");
    const { nextResponse: answer } = this;
    this.nextResponse = undefined;
    if (answer !== undefined) return answer;
    this.requests.push(`${init.method} ${new URL(url).pathname.replace(/^\/sessions\/[^/]*/, "")}`);
    const sent = typeof init.body === "string" ? init.body : "";
    if (sent !== "") this.bodies.push(sent);
    if (this.isDataBusy && sent.includes('"patches":')) return dataChanged();
    const connection = new AbortController();
    this.#connections.add(connection);
    const signal = AbortSignal.any([connection.signal, ...(init.signal ? [init.signal] : [])]);
    const response = await this.#scene.server.fetch(new Request(url, { ...init, signal }));
    if (init.method !== "GET" && this.losesNextReceipt) {
      this.losesNextReceipt = false;
      throw new TypeError("The connection was lost.");
    }
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const body = response.body.pipeThrough(this.#line(isStream), { signal });
    return new Response(body, { status: response.status, headers: response.headers });
  };

  #line(isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    return new TransformStream({
      transform: (bytes, controller) => {
        const isLost = isStream && (this.holdsRecords || (areChunks(bytes) && this.losesChunks()));
        if (!isLost) controller.enqueue(bytes);
      },
    });
  }

  /** Loses all connections, and refuses new ones until `goOnline`. */
  goOffline(): void {
    this.isOnline = false;
    this.drop();
  }

  goOnline(): void {
    this.isOnline = true;
  }

  /** Loses all connections. */
  drop(): void {
    for (const connection of this.#connections) connection.abort(new TypeError("The connection was lost."));
    this.#connections.clear();
  }
}

/** Whether bytes of a stream are chunks only. */
function areChunks(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  return text.startsWith("event: chunk") && !text.includes("event: input");
}

/** How a server answers to a change of data that has changed meanwhile. */
function dataChanged(): Response {
  const problem = { type: "about:blank", title: "Data changed", status: 409, code: "data-changed", seq: 0 };
  return Response.json({ ...problem, detail: "The data has changed." }, { status: 409 });
}

/** A server, and clients that connect to it. */
export class Scene implements AsyncDisposable {
  readonly clock = new TestClock();
  log: EventLog;
  server: AgentServer;
  readonly #options: Partial<AgentServerOptions>;
  readonly #agents: readonly Agent<unknown>[];
  readonly #sessions: RemoteSession<unknown>[] = [];

  constructor(agent: Agent<unknown>, options: Partial<AgentServerOptions> = {}) {
    this.#agents = [agent];
    this.#options = options;
    this.log = options.log ?? memoryLog();
    this.server = this.#start();
  }

  #start(): AgentServer {
    return createAgentServer({
      agents: this.#agents,
      onError: () => undefined,
      ...this.#options,
      log: this.log,
    });
  }

  /** Ends the server, and starts another one on a log. */
  async restart(log: EventLog = this.log): Promise<void> {
    await this.server.close();
    this.log = log;
    this.server = this.#start();
  }

  async connect<Answer = string, Data = unknown>(
    options: Partial<ConnectOptions<Answer>> = {},
    network = new Network(this),
  ): Promise<{ readonly session: RemoteSession<Answer, Data>; readonly network: Network }> {
    const session = await connectSession<Answer, Data>({
      url: "http://localhost/",
      ...(options.id === undefined ? { agent: "helper" } : {}),
      fetch: network.fetch,
      clock: this.clock,
      onError: () => undefined,
      ...options,
    });
    this.#sessions.push(session as RemoteSession<unknown>);
    return { session, network };
  }

  /** Moves the clock until a promise has settled. */
  async settles<Value>(promise: Promise<Value>): Promise<Value> {
    const settled = new AbortController();
    promise.then(
      () => settled.abort(),
      () => settled.abort(),
    );
    for (let seconds = 0; !settled.signal.aborted && seconds < 100; seconds += 1) {
      for (let turns = 0; turns < 20; turns += 1) await turn();
      if (!settled.signal.aborted) await this.clock.advanceAsync(1_000);
    }
    return await promise;
  }

  /** The state of the server as canonical JSON. */
  async stateOf(id: string): Promise<string> {
    const response = await this.server.fetch(new Request(`http://localhost/sessions/${id}`));
    const { state } = (await response.json()) as { state: unknown };
    return canonicalJson(state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) await session.close();
    await this.server.close();
    await this.log.close();
  }
}

/** The state of a session as canonical JSON. */
export function stateOf(session: Pick<RemoteSession, "current">): string {
  const { streaming: _, ...state } = session.current();
  return canonicalJson(state);
}

/** Resolves with the first event of this type, also of a sub-agent. */
export function eventOf<Type extends AgentEvent["type"]>(
  session: Pick<RemoteSession, "onEvent">,
  type: Type,
): Promise<Extract<AgentEvent, { type: Type }>> {
  return new Promise((resolve) => {
    const stop = session.onEvent((event) => {
      const shown = event.type === "SubAgentEvent" && type !== "SubAgentEvent" ? event.event : event;
      if (shown.type !== type) return;
      stop();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      resolve(shown as Extract<AgentEvent, { type: Type }>);
    });
  });
}

/** The options with which a scene is reached. */
export const reach = (scene: Scene, network = new Network(scene)): ServerOptions => ({
  url: "http://localhost/",
  fetch: network.fetch,
  clock: scene.clock,
  onError: () => undefined,
});
