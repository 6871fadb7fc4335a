import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ClusterProcess } from "./cluster-process.ts";

/** The servers that clients may choose from; those that end are replaced. */
export type Servers = readonly ClusterProcess[];

/** A request to any server that listens. Rejects if it ends in the middle. */
async function request(servers: Servers, path: string, init: RequestInit = {}): Promise<Response> {
  const listening = servers.flatMap(({ url }) => (url === undefined ? [] : [url]));
  if (listening.length === 0) throw new Error("No server listens.");
  return await fetch(`${listening[randomInt(listening.length)]}${path}`, init);
}

const pauseMs = 20;

/** The answer of a server, as far as clients compare it. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request to any server until one answers, as a client does that lost its connection: a post with one idempotency key. */
export async function send(
  servers: Servers,
  path: string,
  { body, key }: { readonly body?: object; readonly key?: string } = {},
): Promise<Answer> {
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  for (;;) {
    try {
      const response = await request(servers, path, { headers, ...init });
      if (response.status < 500) return { status: response.status, body: Object(await response.json()) };
    } catch {
      // The connection was lost.
    }
    await delay(pauseMs);
  }
}

/** The same for a post that has to be accepted. */
async function post(servers: Servers, path: string, body: object, key: string): Promise<Answer["body"]> {
  const answer = await send(servers, path, { body, key });
  if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** The numbers and the inputs that a viewer has received of a session, over all of its connections. */
export class Viewer {
  readonly #servers: Servers;
  readonly #id: string;
  readonly #stop = new AbortController();
  readonly inputs: { readonly seq: number; readonly input: { readonly type: string } }[] = [];
  readonly problems: string[] = [];
  connections = 0;
  readonly #reading: Promise<void>;

  constructor(servers: Servers, id: string) {
    this.#servers = servers;
    this.#id = id;
    this.#reading = this.#read();
  }

  /** How many loops it has seen end. */
  get ended(): number {
    return this.#ended;
  }
  #ended = 0;

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  /** Connects to any server, again and again, and resumes after the last record. */
  async #read(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const last = this.inputs.at(-1)?.seq ?? 0;
        const response = await request(this.#servers, `/sessions/${this.#id}/events?after=${last}`, {
          signal: this.#stop.signal,
        });
        if (response.ok && response.body !== null) await this.#receive(response.body);
        else if (response.status < 500)
          this.problems.push(`${this.#id}: ${response.status} ${await response.text()}`);
      } catch {
        // The server ended, or this viewer.
      }
      await delay(pauseMs);
    }
  }

  async #receive(body: ReadableStream<Uint8Array>): Promise<void> {
    this.connections += 1;
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      const events = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    if (!/^event: input$/m.test(event)) return;
    const { seq, input } = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "");
    const expected = (this.inputs.at(-1)?.seq ?? 0) + 1;
    if (seq !== expected) this.problems.push(`${this.#id}: record ${seq} came in place of ${expected}`);
    this.inputs.push({ seq, input });
    if (input.type === "re-act-observed" && input.observation.type === "complete-re-act") this.#ended += 1;
  }
}

/** A conversation with a cluster: its messages one after the other, and a viewer. */
export class Conversation {
  readonly #servers: Servers;
  readonly viewer: Viewer;
  readonly id: string;
  messages = 0;

  private constructor(servers: Servers, id: string) {
    this.#servers = servers;
    this.id = id;
    this.viewer = new Viewer(servers, id);
  }

  static async begin(servers: Servers, number: number): Promise<Conversation> {
    const { id } = await post(servers, "/agents/payer/sessions", {}, `create-${number}`);
    return new Conversation(servers, String(id));
  }

  /** Posts a message, and resolves when the viewer has seen its answer. */
  async say(content: string): Promise<void> {
    this.messages += 1;
    const number = this.messages;
    await post(this.#servers, `/sessions/${this.id}/messages`, { content }, `message-${number}`);
    while (this.viewer.ended < number) await delay(pauseMs);
  }
}
