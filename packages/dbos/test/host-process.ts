import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { AgentInput } from "@moora/agent";
import type { Command, LaunchOrders } from "./children/commands.ts";

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
