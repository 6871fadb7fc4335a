import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Memory } from "./traffic.ts";

/** The server of the proof. It is killed when it is disposed of. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  static async start(file: string, tokens: number, heapMiB: number): Promise<ServerProcess> {
    const child = fork(join(import.meta.dirname, "child.ts"), [file, String(tokens)], {
      execArgv: ["--conditions=@moora/source", `--max-old-space-size=${heapMiB}`],
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    let output = "";
    for await (const text of child.stdout ?? []) {
      output += String(text);
      const [, url] = /listening (\S+)/.exec(output) ?? [];
      if (url !== undefined) return new ServerProcess(child, url);
    }
    throw new Error(`The server has ended: ${output}`);
  }

  /** How much memory the process has used at most. */
  async peakBytes(): Promise<number> {
    this.#process.send("memory");
    const [memory] = (await once(this.#process, "message")) as [Memory];
    return memory.peakBytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, "close");
    this.#process.kill("SIGKILL");
    await ended;
  }
}
