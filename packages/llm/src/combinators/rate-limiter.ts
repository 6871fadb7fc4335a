/** A clock: the time, and timers. The clock of a session fits. */
export interface LlmClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, after `ms` milliseconds. Returns a function that cancels the timer. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: LlmClock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

const msPerMinute = 60_000;
/** Rounding of times must not add a wait. */
const tolerance = 1e-6;

/** An amount that refills evenly, up to the amount of one minute. It may be overdrawn. */
class Allowance {
  readonly #perMinute: number;
  #level: number;
  #at: number;

  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#level = perMinute;
    this.#at = now;
  }

  take(amount: number, now: number): void {
    this.#refill(now);
    this.#level -= amount;
  }

  /** How long to wait before this amount can be taken. An amount above that of a minute waits until all of it is there. */
  waitMs(amount: number, now: number): number {
    this.#refill(now);
    const missing = Math.min(amount, this.#perMinute) - this.#level;
    return missing <= tolerance ? 0 : Math.ceil((missing * msPerMinute) / this.#perMinute);
  }

  #refill(now: number): void {
    const passedMs = Math.max(0, now - this.#at);
    this.#level = Math.min(this.#perMinute, this.#level + (passedMs * this.#perMinute) / msPerMinute);
    this.#at = Math.max(this.#at, now);
  }
}

interface Waiting {
  readonly tokens: number;
  readonly start: () => void;
}

/** Starts calls in the order in which they arrive, within limits per minute. */
export class RateLimiter {
  readonly #clock: LlmClock;
  readonly #requests: Allowance | undefined;
  readonly #tokens: Allowance | undefined;
  #waiting: Waiting[] = [];
  #pausedUntil = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(
    clock: LlmClock,
    limits: {
      readonly requestsPerMinute?: number | undefined;
      readonly tokensPerMinute?: number | undefined;
    },
  ) {
    const now = clock.now();
    this.#clock = clock;
    const { requestsPerMinute, tokensPerMinute } = limits;
    this.#requests = requestsPerMinute === undefined ? undefined : new Allowance(requestsPerMinute, now);
    this.#tokens = tokensPerMinute === undefined ? undefined : new Allowance(tokensPerMinute, now);
  }

  /** Takes one request and these tokens as soon as that is possible. The function leaves the queue, and takes nothing. */
  enqueue(tokens: number, start: () => void): () => void {
    const waiting: Waiting = { tokens, start };
    this.#waiting.push(waiting);
    this.#startNext();
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      this.#startNext();
    };
  }

  /** Corrects the tokens of a call when they are known. A negative number gives tokens back. */
  takeTokens(tokens: number): void {
    this.#tokens?.take(tokens, this.#clock.now());
    this.#startNext();
  }

  /** Starts no call for this time, as the provider asks for. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
    this.#startNext();
  }

  #startNext(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const now = this.#clock.now();
      const waitMs = Math.max(
        this.#pausedUntil - now,
        this.#requests?.waitMs(1, now) ?? 0,
        this.#tokens?.waitMs(next.tokens, now) ?? 0,
      );
      if (waitMs > 0) {
        this.#cancelTimer = this.#clock.after(waitMs, () => this.#startNext());
        return;
      }
      this.#waiting.shift();
      this.#requests?.take(1, now);
      this.#tokens?.take(next.tokens, now);
      next.start();
    }
  }
}
