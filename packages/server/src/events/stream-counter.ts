import { HttpProblem, unavailable } from "../problem.ts";
import type { ServerLimits } from "../server-options.ts";

/** Counts the open streams, in total and by user. */
export class StreamCounter {
  readonly #limits: Pick<ServerLimits, "maxStreams" | "maxStreamsPerUser">;
  readonly #byUser = new Map<string, number>();
  #count = 0;

  constructor(limits: Pick<ServerLimits, "maxStreams" | "maxStreamsPerUser">) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts a stream until the returned function is called. Throws `HttpProblem` beyond a limit. */
  add(user: string): () => void {
    const own = this.#byUser.get(user) ?? 0;
    if (own >= this.#limits.maxStreamsPerUser) {
      throw new HttpProblem("too-many-streams", "You have too many open streams. Close one and retry.", {
        headers: { "retry-after": "1" },
      });
    }
    if (this.#count >= this.#limits.maxStreams) throw unavailable("The server has too many open streams.");
    this.#byUser.set(user, own + 1);
    this.#count += 1;
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      this.#count -= 1;
      const left = (this.#byUser.get(user) ?? 1) - 1;
      if (left === 0) this.#byUser.delete(user);
      else this.#byUser.set(user, left);
    };
  }
}
