import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

/** A process that runs a file against the sources. It is killed at the end. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<null, Readable, null>;
  readonly #ended: Promise<unknown>;
  output = "";

  /** `path` is that of the file. */
  constructor(path: string, ...args: readonly string[]) {
    this.#process = spawn(process.execPath, ["--conditions=@moora/source", path, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process.stdout.on("data", (text) => (this.output += String(text)));
    this.#ended = once(this.#process, "close");
  }

  /** Resolves with the match when the process has printed it. Rejects if it ends without it. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const over = new AbortController();
    void this.#ended.then(() => over.abort(new Error(`It ended: ${this.output}`)));
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      await once(this.#process.stdout, "data", { signal: over.signal });
    }
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
  }
}
