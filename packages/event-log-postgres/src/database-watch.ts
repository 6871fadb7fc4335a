import { Listeners } from "@moora/event-log";
import type { Database } from "./database.ts";
import type { PostgresClient } from "./postgres-pool.ts";

/** How often the heads are asked for where no message tells of new records, and a lost connection is looked for. */
const pollMs = 1_000;

/**
 * Who listens to which session. While somebody does, one connection listens to the server, and the heads are asked for
 * now and then besides: so a watch works behind a pooler, and after a break.
 */
export class DatabaseWatch {
  readonly #database: Database;
  readonly #listeners = new Listeners();
  readonly #heads = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;
  #isLooking = false;

  constructor(database: Database) {
    this.#database = database;
  }

  add(life: string, listener: () => void): () => void {
    const remove = this.#listeners.add(life, listener);
    this.#timer ??= setInterval(() => void this.#look(), pollMs).unref();
    void this.#look();
    return () => {
      remove();
      if (!this.#listeners.has(life)) this.#heads.delete(life);
      if (this.#listeners.keys.length === 0) this.#stop();
    };
  }

  notify(life: string): void {
    this.#listeners.notify(life);
  }

  close(): void {
    this.#listeners.clear();
    this.#heads.clear();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Compares the heads with those seen last. Of a session that is new here, too, something may have been missed. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      if (this.#stopListening === undefined) await this.#listen();
      const lives = this.#listeners.keys;
      const rows = await this.#database.rows("watch", this.#database.statements.heads, lives);
      const heads = new Map(rows.map((row) => [String(row["life"]), String(row["head"])]));
      for (const life of lives) this.#see(life, heads.get(life) ?? "removed");
    } catch {
      // Whoever reads will hear what is wrong; the next look comes in a second.
    } finally {
      this.#isLooking = false;
    }
  }

  #see(life: string, head: string): void {
    if (this.#heads.get(life) === head || !this.#listeners.has(life)) return;
    this.#heads.set(life, head);
    this.#listeners.notify(life);
  }

  /** Keeps one connection that hears of appends until it breaks or nobody watches any more. */
  async #listen(): Promise<void> {
    const { channel } = this.#database;
    if (channel === null) return;
    const listening = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const hear = async (client: PostgresClient): Promise<void> => {
      client.on("notification", ({ payload }) => this.#listeners.notify(payload ?? ""));
      client.on("end", ended.resolve);
      await client.query(`LISTEN "${channel}"`);
      client.unref?.();
      listening.resolve();
      await ended.promise;
      // From here on somebody may wait for it to be closed.
      client.ref?.();
    };
    void this.#database
      .keepClient(hear)
      .then(listening.resolve, listening.reject)
      .finally(() => {
        if (this.#stopListening === ended.resolve) this.#stopListening = undefined;
      });
    await listening.promise;
    this.#stopListening = ended.resolve;
    if (this.#timer === undefined) this.#stop();
  }
}
