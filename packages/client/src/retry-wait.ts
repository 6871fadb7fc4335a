import type { Clock } from "@moora/agent";

/** The waits between attempts to reach a server: the first and the longest, in milliseconds. */
export interface RetryDelays {
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
}

/**
 * Waits between attempts: each wait is twice as long as the one before, up to the longest, and a random part of at most half
 * of it is left out, so that the clients of a server that starts again do not arrive together.
 */
export class RetryWait {
  readonly #clock: Clock;
  readonly #delays: RetryDelays;
  /** The number of attempts that have failed since the last success. */
  #failures = 0;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, delays: RetryDelays) {
    this.#clock = clock;
    this.#delays = delays;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Counts a failure and returns how long to wait, in milliseconds; at least `leastMs`. */
  failed(leastMs = 0): number {
    const { retryDelayMs, maxRetryDelayMs } = this.#delays;
    const longest = Math.min(maxRetryDelayMs, retryDelayMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return Math.max(leastMs, Math.round(longest * (1 - Math.random() / 2)));
  }

  /** A short random wait, in milliseconds: a server that is closed ends all its streams at once, and each as if that was planned. */
  spread(): number {
    return Math.round(this.#delays.retryDelayMs * Math.random());
  }

  /** Resolves after a time, or at the next `wake`. */
  async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(ms, resolve);
    this.#wake = resolve;
    await promise;
    cancel();
    this.#wake = undefined;
  }

  /** Ends the current wait: there is a reason to try now. */
  wake(): void {
    this.#wake?.();
  }
}
