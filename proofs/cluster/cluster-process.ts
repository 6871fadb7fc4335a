import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { Place } from "@moora/testbed/durable/places";
import type { Orders } from "./child.ts";

/** The compiled code of the processes, so that they start in a fraction of the time. */
const compiled = new Place();
process.once("exit", () => compiled[Symbol.dispose]());

/** A process of a cluster. It is killed when it is disposed of. */
export class ClusterProcess implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  output = "";
  /** Its address; undefined until it listens, and after its end. */
  url: string | undefined;

  constructor(orders: Orders) {
    const path = join(import.meta.dirname, "child.ts");
    const args = ["--conditions=@moora/source", path, JSON.stringify(orders)];
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled.path };
    this.#process = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env });
    this.#process.stdin.on("error", () => undefined);
    this.#process.stdout.on("data", (text) => (this.output += String(text)));
    this.#ended = once(this.#process, "close").then(() => (this.url = undefined));
  }

  /** The errors that it has reported. */
  get errors(): readonly string[] {
    return this.output.split("\n").filter((line) => line.startsWith("error "));
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  async ready(): Promise<void> {
    await this.#printed(/^ready$/m);
  }

  /** Lets a process begin that is ready, and resolves when it listens. */
  async begin(): Promise<void> {
    await this.ready();
    this.#process.stdin.write("go\n");
    const [, url] = await this.#printed(/^listening (\S+)$/m);
    this.url = url;
  }

  pause(): void {
    this.#process.kill("SIGSTOP");
  }

  resume(): void {
    this.#process.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.url = undefined;
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  /** Ends the process as an operator does: its sessions are closed before. */
  async stop(): Promise<void> {
    this.url = undefined;
    this.#process.kill("SIGTERM");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
  }

  async #printed(pattern: RegExp): Promise<RegExpExecArray> {
    const over = new AbortController();
    void this.#ended.then(() => over.abort(new Error(`The process ended: ${this.output}`)));
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      await once(this.#process.stdout, "data", { signal: over.signal });
    }
  }
}
