import type { Clock } from "../src/index.ts";

/** A clock that is moved by hand. */
export class HandClock implements Clock {
  #now = 1_000;
  readonly #timers = new Set<{ readonly due: number; readonly callback: () => void }>();

  /** The longest delay of a callback so far. */
  longest = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { due: this.#now + ms, callback };
    this.longest = Math.max(this.longest, ms);
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many callbacks are still to come. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on and calls back everything that has come due, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ due }) => due <= until).toSorted((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
    }
    this.#now = until;
  }
}
