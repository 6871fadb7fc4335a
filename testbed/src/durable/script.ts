import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** A child process that runs `children/script.ts`. */
export class Script implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  stdout = "";
  stderr = "";

  constructor(...args: readonly string[]) {
    const file = join(import.meta.dirname, "..", "children", "script.ts");
    this.#process = spawn(process.execPath, ["--conditions=@moora/source", file, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout.on("data", (text) => (this.stdout += String(text)));
    this.#process.stderr.on("data", (text) => (this.stderr += String(text)));
    this.#ended = once(this.#process, "close");
  }

  /** Resolves when the process has written a text. Rejects if it ends without it. */
  async said(text: string): Promise<void> {
    await this.#wrote("stdout", text);
  }

  async complained(text: string): Promise<void> {
    await this.#wrote("stderr", text);
  }

  async #wrote(stream: "stdout" | "stderr", text: string): Promise<void> {
    const over = new AbortController();
    void this.#ended.then(() => over.abort(new Error(`It ended: ${this.stdout}${this.stderr}`)));
    while (!this[stream].includes(text)) await once(this.#process[stream], "data", { signal: over.signal });
  }

  /** Its exit code, or the signal that ended it. */
  async ended(): Promise<number | string | null> {
    await this.#ended;
    return this.#process.exitCode ?? this.#process.signalCode;
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) this.#process.kill("SIGKILL");
    await this.#ended;
  }
}
