import { join } from "node:path";
import { Child } from "@moora/testbed/child";

/** Logs that listen, in a process of their own, so that they do not take the time of the thread that appends. */
export class Listeners extends Child {
  /** Resolves when all of them listen. */
  static async start(url: string, count: number): Promise<Listeners> {
    const listeners = new Listeners(join(import.meta.dirname, "listeners-child.ts"), url, String(count));
    await listeners.message();
    return listeners;
  }

  /** Waits until they have received at least so many notifications. Returns the number. */
  async received(least: number): Promise<number> {
    for (;;) {
      const count = Number(await this.ask("count"));
      if (count >= least) return count;
    }
  }
}
