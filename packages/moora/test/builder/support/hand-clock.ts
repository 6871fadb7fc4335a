import type { Clock } from "@moora/agent";

/** A clock that stands still until it is moved. */
export class HandClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ readonly due: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { due: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves on to a time, calling back what is due by then. */
  moveTo(time: number): void {
    this.#now = time;
    for (const timer of this.#timers) {
      if (timer.due > time) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }

  /** How many callbacks are waited for. */
  get waiting(): number {
    return this.#timers.size;
  }
}
