import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A child process that runs `children/host.ts`. It reports messages as lines of JSON. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  readonly #said: string[] = [];
  #heard: (() => void)[] = [];

  constructor(manner: string, ...args: readonly string[]) {
    const file = join(import.meta.dirname, "..", "children", "host.ts");
    this.#process = spawn(process.execPath, ["--conditions=@moora/source", file, manner, ...args], {
      // Who aborts has nothing to say but where.
      stdio: ["pipe", "pipe", manner === "abort" ? "ignore" : "inherit"],
    });
    const reader = createInterface({ input: this.#process.stdout });
    reader.on("line", (line) => {
      this.#said.push(line);
      for (const wake of this.#heard.splice(0)) wake();
    });
    this.#ended = Promise.all([once(this.#process, "exit"), once(reader, "close")]);
    this.#ended.finally(() => this.#heard.splice(0).forEach((wake) => wake())).catch(() => undefined);
  }

  /** Resolves with the message that the process reports under a name. Rejects if the process ends without it. */
  async said(name: string): Promise<unknown> {
    for (;;) {
      for (const line of this.#said) {
        const message: unknown = JSON.parse(line);
        if (Array.isArray(message) && message[0] === name) return message[1];
      }
      if (this.hasEnded)
        throw new Error(`The process ended without reporting ${name}: ${this.#said.join(" ")}`);
      await new Promise<void>((resolve) => this.#heard.push(resolve));
    }
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Sends a command, as one line on its standard input. */
  send(word: string): void {
    this.#process.stdin.write(`${word}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves with the exit code of the process, or the signal that ended it. */
  async ended(): Promise<number | string | null> {
    await this.#ended;
    return this.#process.exitCode ?? this.#process.signalCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) this.#process.kill("SIGKILL");
    await this.#ended;
  }
}
