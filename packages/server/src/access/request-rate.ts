import type { Clock } from "@moora/agent";
import { HttpProblem } from "../problem.ts";
import type { ServerLimits } from "../server-options.ts";

const minuteMs = 60_000;

/** Beyond this number of users, those whose allowance is full again are forgotten. */
const manyUsers = 10_000;

/**
 * Limits the requests of each user: `maxRequestsPerMinute` at once, after which one more is allowed in each equal part of a minute
 * (the generic cell rate algorithm). One number is kept for each user that was active in the last minute.
 */
export class RequestRate {
  readonly #clock: Clock;
  readonly #spacingMs: number;
  /** When the allowance of a user is full again, in milliseconds since 1970. */
  readonly #fullAt = new Map<string, number>();
  #sweepAt = manyUsers;

  constructor(clock: Clock, { maxRequestsPerMinute }: Pick<ServerLimits, "maxRequestsPerMinute">) {
    this.#clock = clock;
    this.#spacingMs = minuteMs / maxRequestsPerMinute;
  }

  /** Counts a request. Throws `too-many-requests`, with the seconds after which the next one is allowed. */
  check(user: string): void {
    const now = this.#clock.now();
    const known = this.#fullAt.get(user) ?? now;
    // Later than in a minute only if the clock was set back.
    const isCurrent = known > now && known <= now + minuteMs + roundingMs;
    const fullAt = (isCurrent ? known : now) + this.#spacingMs;
    const waitMs = fullAt - now - minuteMs;
    if (waitMs > roundingMs) {
      const headers = { "retry-after": String(Math.ceil(waitMs / 1_000)) };
      throw new HttpProblem("too-many-requests", "Too many requests. Retry after the given time.", {
        headers,
      });
    }
    this.#fullAt.set(user, fullAt);
    if (this.#fullAt.size >= this.#sweepAt) this.#sweep(now);
  }

  #sweep(now: number): void {
    for (const [user, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(user);
    this.#sweepAt = Math.max(manyUsers, this.#fullAt.size * 2);
  }
}

/** Sums of parts of a minute may be off by this much. */
const roundingMs = 1e-3;
