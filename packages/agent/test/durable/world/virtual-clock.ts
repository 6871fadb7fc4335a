import type { Clock } from "../../../src/index.ts";

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is moved. */
export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  /** How many wait to be called back. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { due: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Sets the time, also back, without running timers. */
  set(now: number): void {
    this.#now = now;
  }

  /** Moves on to a time, and calls back who is due on the way, in order; what they set in motion has its turn. */
  async advanceTo(time: number): Promise<void> {
    for (;;) {
      const next = [...this.#timers].toSorted((a, b) => a.due - b.due)[0];
      if (next === undefined || next.due > time) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
      await turn();
    }
    this.#now = Math.max(this.#now, time);
    await turn();
  }

  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.#now + ms);
  }
}

/** Waits for one turn of the event loop, so that everything that is ready can continue. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
