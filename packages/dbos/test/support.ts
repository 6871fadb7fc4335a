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
import type { Command, LaunchOrders } from "./children/commands.ts";
import type { Orders } from "./children/host.ts";

/** The compiled code of the processes, also of earlier runs, so that they start in a fraction of the time. */
const compiledCode = join(import.meta.dirname, "../node_modules/.cache/compiled");

/** A process of this folder that hosts sessions on DBOS. It is killed when it is disposed of. */
export class HostProcess implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<void>;
  #output = "";
  #commands = 0;

  constructor(file: string, orders: LaunchOrders) {
    const path = join(import.meta.dirname, "children", file);
    // The driver of PostgreSQL warns of how DBOS uses it.
    const args = ["--no-deprecation", "--conditions=@moora/source", path, JSON.stringify(orders)];
    const env = { ...process.env, NODE_COMPILE_CACHE: compiledCode };
    this.#process = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env });
    this.#process.stdin.on("error", () => undefined);
    this.#process.stdout.on("data", (text) => (this.#output += String(text)));
    this.ended = once(this.#process, "close").then(() => undefined);
  }

  /** What it has printed. */
  get output(): string {
    return this.#output;
  }

  /** Calls the listener when it has printed more. */
  onOutput(listener: () => void): () => void {
    this.#process.stdout.on("data", listener);
    return () => void this.#process.stdout.off("data", listener);
  }

  async launched(): Promise<void> {
    await this.prints(/^launched$/m);
  }

  /** Posts an input. Resolves with whether it applied; never, if the process ends before it answers. */
  async post(id: string, input: AgentInput, key?: string): Promise<boolean> {
    const command = { type: "post", id, input, ...(key === undefined ? {} : { key }) } as const;
    const answer = await this.send(command);
    if (answer !== "true" && answer !== "false") throw new Error(`The post failed: ${answer}`);
    return answer === "true";
  }

  /** Resumes the workflows of all other processes here. */
  async resume(): Promise<void> {
    await this.send({ type: "resume" });
  }

  /** Resolves with the first match in what it has printed and will print. */
  prints(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = pattern.exec(this.#output);
        if (found === null) return;
        stop();
        resolve(found);
      };
      const stop = this.onOutput(look);
      look();
    });
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
  }

  /** Sends a command, and resolves with the answer: a text, such as the name and the code of an error. */
  async send(command: Unnumbered<Command>): Promise<string> {
    this.#commands += 1;
    const number = this.#commands;
    this.#process.stdin.write(`${JSON.stringify({ number, ...command })}\n`);
    const [, answer = ""] = await this.prints(new RegExp(`^answer ${number} (.*)$`, "m"));
    return answer;
  }
}

type Unnumbered<One> = One extends Command ? Omit<One, "number"> : never;

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
    const all: Orders = { executor: "one", takesOver: false, holds: false, ...base, ...orders };
    const launched = new HostProcess("host.ts", all);
    this.#processes.push(launched);
    await launched.launched();
    return launched;
  }

  /** The address of the database. */
  get url(): string {
    return this.#postgres.url;
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

export const message = (content: string, messageId = "message-1"): AgentInput => ({
  type: "user-message-received",
  messageId,
  content,
  timestamp: Date.now(),
});

/** Whether the loop of a session has ended with an answer. */
export const isDone = ({ reActContext: { control } }: AgentState): boolean => control.type === "Done";
