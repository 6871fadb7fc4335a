import type { CallSession } from "@moora/agent/internal";
import type { Connection } from "./run-round.ts";

/** How long a session whose sub-agents ask waits for the next round of its call. */
const keptMs = 300_000;

interface KeptSession {
  readonly session: CallSession;
  readonly connection: Connection | undefined;
  readonly timer: NodeJS.Timeout;
}

/**
 * Sessions whose sub-agents ask a person, kept open between the rounds of a call: other calls of theirs may run, which a close would
 * interrupt. One that is closed after a while, or by a crash, asks the same questions when it is opened again.
 */
export class KeptSessions {
  readonly #kept = new Map<string, KeptSession>();

  /** Keeps a session until it is taken or its connection ends, or for some minutes. */
  keep(session: CallSession, connection: Connection | undefined): void {
    const timer = setTimeout(() => {
      this.#kept.delete(session.id);
      // Its own listener has the error.
      session.close().catch(() => undefined);
    }, keptMs);
    timer.unref();
    this.#kept.set(session.id, { session, connection, timer });
  }

  /** Gives the session back to a call; undefined if it is not kept. */
  take(id: string): CallSession | undefined {
    const kept = this.#kept.get(id);
    clearTimeout(kept?.timer);
    this.#kept.delete(id);
    return kept?.session;
  }

  has(id: string): boolean {
    return this.#kept.has(id);
  }

  /** Closes those of a connection; without one, all of them. */
  async close(connection?: Connection): Promise<void> {
    const ids = [...this.#kept].flatMap(([id, kept]) =>
      connection === undefined || kept.connection === connection ? [id] : [],
    );
    await Promise.all(ids.map(async (id) => await this.take(id)?.close()));
  }
}
