import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { stateAt, type AgentInput, type AgentState } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { Place } from "@moora/testbed/durable/places";
import { PostgresServer } from "@moora/testbed/postgres/server";
import type { Orders } from "./children/host.ts";

/** A process that hosts sessions on DBOS. */
export class HostProcess implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  #output = "";

  constructor(orders: Orders) {
    const path = join(import.meta.dirname, "children/host.ts");
    // The driver of PostgreSQL warns of how DBOS uses it.
    const args = ["--no-deprecation", "--conditions=@moora/source", path, JSON.stringify(orders)];
    this.#process = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process.stdin.on("error", () => undefined);
    this.#process.stdout.on("data", (text) => (this.#output += String(text)));
    this.#ended = once(this.#process, "close");
  }

  async launched(): Promise<void> {
    await this.#printed("launched\n");
  }

  /** Posts an input. Resolves with whether it applied. */
  async post(id: string, input: AgentInput): Promise<boolean> {
    this.#process.stdin.write(`${JSON.stringify({ id, input })}\n`);
    await this.#printed(`posted ${id} `);
    return this.#output.includes(`posted ${id} true\n`);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
  }

  async #printed(text: string): Promise<void> {
    const over = new AbortController();
    void this.#ended.then(() => over.abort(new Error(`The process ended: ${this.#output}`)));
    while (!this.#output.includes(text)) await once(this.#process.stdout, "data", { signal: over.signal });
  }
}

/** A database, and what the tools of all processes have done. */
export class Scene implements AsyncDisposable {
  readonly #place = new Place();
  readonly #postgres: PostgresServer;
  readonly #processes: HostProcess[] = [];
  readonly log;

  private constructor(postgres: PostgresServer) {
    this.#postgres = postgres;
    this.log = postgresLog(postgres.url);
    writeFileSync(this.#file, "");
  }

  static async start(): Promise<Scene> {
    return new Scene(await PostgresServer.start());
  }

  async launch(orders: Partial<Orders> = {}): Promise<HostProcess> {
    const base = { url: this.#postgres.url, file: this.#file };
    const launched = new HostProcess({ executor: "one", takesOver: false, holds: false, ...base, ...orders });
    this.#processes.push(launched);
    await launched.launched();
    return launched;
  }

  /** The lines of the tools' runs in a session. */
  runs(id: string): readonly string[] {
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${id}/`));
  }

  /** The first state of a session that is as `isReached` says. */
  async until(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    for (;;) {
      const { state } = await stateAt(this.log, id);
      if (isReached(state)) return state;
      await delay(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const launched of this.#processes) await launched[Symbol.asyncDispose]();
    await this.log.close();
    await this.#postgres[Symbol.asyncDispose]();
    this.#place[Symbol.dispose]();
  }

  get #file(): string {
    return this.#place.file("runs");
  }
}

export const message = (content: string): AgentInput => ({
  type: "user-message-received",
  messageId: "message-1",
  content,
  timestamp: Date.now(),
});
