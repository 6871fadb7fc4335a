import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Logs that listen, in a process of their own, so that they do not take the time of the thread that appends. */
export class Listeners implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when all of them listen. */
  static async start(url: string, count: number): Promise<Listeners> {
    const child = fork(join(import.meta.dirname, "listeners-child.ts"), [url, String(count)], {
      execArgv: ["--conditions=@moora/source"],
    });
    await once(child, "message");
    return new Listeners(child);
  }

  /** Waits until they have received at least so many notifications. Returns the number. */
  async received(least: number): Promise<number> {
    for (;;) {
      this.#child.send("count");
      const [count] = await once(this.#child, "message");
      if (count >= least) return count;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }
}
