import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A child process that runs a file of `children/`, with its output by lines. */
export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ended: Promise<unknown>;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(file: string, ...args: readonly string[]) {
    this.#process = spawn(process.execPath, [join(import.meta.dirname, "children", file), ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const reader = createInterface({ input: this.#process.stdout });
    reader.on("line", (line) => {
      this.lines.push(line);
      this.#waiting = this.#waiting.filter(({ count, resolve }) => {
        if (this.lines.length >= count) resolve();
        return this.lines.length < count;
      });
    });
    this.#ended = Promise.all([once(this.#process, "exit"), once(reader, "close")]);
  }

  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  /** Resolves when it has printed this many lines. */
  async waitForLines(count: number): Promise<void> {
    if (this.lines.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  send(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  async ended(): Promise<void> {
    await this.#ended;
  }
}
