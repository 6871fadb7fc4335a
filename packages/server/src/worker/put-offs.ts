import type { Clock } from "@moora/agent";

const firstMs = 1_000;
const longestMs = 300_000;

/** Beyond this number, the sessions that failed first are forgotten. */
const mostSessions = 10_000;

/** The sessions that could not be run, each with a pause that doubles from one second to five minutes. */
export class PutOffs {
  readonly #clock: Clock;
  readonly #sessions = new Map<string, { readonly pauseMs: number; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the pause of a session has not ended yet. */
  has(id: string): boolean {
    return (this.#sessions.get(id)?.until ?? 0) > this.#clock.now();
  }

  add(id: string): void {
    const before = this.#sessions.get(id);
    const pauseMs = before === undefined ? firstMs : Math.min(before.pauseMs * 2, longestMs);
    this.#sessions.delete(id);
    this.#sessions.set(id, { pauseMs, until: this.#clock.now() + pauseMs });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > mostSessions && oldest !== undefined) this.#sessions.delete(oldest);
  }

  remove(id: string): void {
    this.#sessions.delete(id);
  }
}
