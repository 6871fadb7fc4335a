import { VirtualClock } from "@moora/agent-testing";

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
}

/** The clock of all tests: it is moved by hand, and a test can wait until work waits for it. Starts at 1,000,000 ms. */
export class TestClock extends VirtualClock {
  /** The longest delay of a timer so far, in milliseconds. */
  longest = 0;
  #waiters: readonly Waiter[] = [];

  constructor(startsAt = 1_000_000) {
    super(startsAt);
  }

  override after(ms: number, callback: () => void): () => void {
    this.longest = Math.max(this.longest, ms);
    const cancel = super.after(ms, callback);
    this.#wake();
    return () => {
      cancel();
      this.#wake();
    };
  }

  /** Sets the time, also back, without running timers. */
  set(now: number): void {
    this.jump(now - this.now());
  }

  /** Advances to a time, and runs everything that is due by then, in order. */
  advanceTo(time: number): void {
    this.advance(time - this.now());
  }

  /** Like `advance`, with a turn of the event loop after each timer and at the end. */
  async advanceAsync(ms: number): Promise<void> {
    await this.advanceToAsync(this.now() + ms);
  }

  /** Like `advanceTo`, with a turn of the event loop after each timer and at the end. */
  async advanceToAsync(time: number): Promise<void> {
    while ((this.nextAt ?? Infinity) <= time) {
      this.fireNext();
      await turn();
    }
    if (time > this.now()) this.set(time);
    await turn();
  }

  /** Resolves as soon as exactly this number of timers waits. */
  whenWaiting(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters = [...this.#waiters, { count, resolve }];
      this.#wake();
    });
  }

  #wake(): void {
    const reached = this.#waiters.filter(({ count }) => count === this.waiting);
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter));
    for (const { resolve } of reached) resolve();
  }
}

/** Waits for one turn of the event loop, so that everything that is ready can continue. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Waits until an assertion passes: one turn of the event loop after the other, and after many turns a hundredth of a second each, since
 * what it waits for may need another thread or process. Throws what the assertion throws if it never passes.
 */
export async function untilPasses(assertion: () => void): Promise<void> {
  for (let count = 0; count < 4_000; count += 1) {
    try {
      return assertion();
    } catch {
      // Checked again after the next turn.
    }
    await (count < 1_000 ? turn() : new Promise((resolve) => setTimeout(resolve, 10)));
  }
  assertion();
}
