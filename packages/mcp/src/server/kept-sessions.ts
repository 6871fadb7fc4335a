import type { DurableSession } from "@moora/agent";

/** How long a session whose sub-agents ask waits for the next round of its call. */
const keptMs = 300_000;

interface KeptSession {
  readonly session: DurableSession<unknown>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Sessions whose sub-agents ask a person, kept open between the rounds of a call: other calls of theirs may run, which a close would
 * interrupt. One that is closed after a while, or by a crash, asks the same questions when it is opened again.
 */
export class KeptSessions {
  readonly #kept = new Map<string, KeptSession>();

  /** Keeps a session until it is taken, or for some minutes. */
  keep(session: DurableSession<unknown>): void {
    const timer = setTimeout(() => {
      this.#kept.delete(session.id);
      // Its own listener has the error.
      session.close().catch(() => undefined);
    }, keptMs);
    timer.unref();
    this.#kept.set(session.id, { session, timer });
  }

  /** Gives the session back to a call; undefined if it is not kept. */
  take(id: string): DurableSession<unknown> | undefined {
    const kept = this.#kept.get(id);
    clearTimeout(kept?.timer);
    this.#kept.delete(id);
    return kept?.session;
  }

  /** Closes all of them. */
  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map(async (id) => await this.take(id)?.close()));
  }
}
