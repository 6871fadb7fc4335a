import type { Clock } from "@moora/agent-core-effects";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that is moved by hand. */
export class VirtualClock implements Clock {
  #time: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startsAt = 1_700_000_000_000) {
    this.#time = startsAt;
  }

  now(): number {
    return this.#time;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#time + Math.max(0, ms), order: (this.#order += 1), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** The number of waiting timers. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, in milliseconds since 1970; undefined without a timer. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Moves to the next timer and fires it; false when no timer waits. */
  fireNext(): boolean {
    const next = this.#next();
    if (next === undefined) return false;
    this.#time = Math.max(this.#time, next.at);
    this.#timers.delete(next);
    next.callback();
    return true;
  }

  /** Moves time without looking at timers, also back: a clock that was set. Those that became due fire at the next move. */
  jump(ms: number): void {
    this.#time += ms;
  }

  /** Moves on and fires everything that becomes due, in its order. */
  advance(ms: number): void {
    const until = this.#time + ms;
    for (let next = this.#next(); next !== undefined && next.at <= until; next = this.#next())
      this.fireNext();
    this.#time = Math.max(this.#time, until);
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}
