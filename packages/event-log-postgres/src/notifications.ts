import type { Database } from "./database.ts";
import type { PostgresClient } from "./postgres-pool.ts";

/** The delay before a broken connection is replaced. */
const reconnectMs = 1_000;

/** Receives the notifications of a channel. */
export interface ChannelListener {
  /** The name of the channel. Called when a connection exists, and the tables of the log with it. */
  readonly channel: () => string;
  readonly onPayload: (payload: string) => void;
  /** Called each time a connection listens. Earlier notifications may have been missed. */
  readonly onConnect?: () => void;
}

/** The notifications of a database: one connection listens to all channels while there is one, and is replaced when it breaks. */
export class Notifications {
  readonly #database: Database;
  readonly #listeners = new Set<ChannelListener>();
  #client: PostgresClient | undefined;
  #stop: AbortController | undefined;
  /** Settles when the statements so far have ended: a connection takes one at a time. */
  #sent: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds a listener; returns a function that removes it. A channel has one listener at a time. */
  listen(listener: ChannelListener): () => void {
    if (this.#isClosed) return () => undefined;
    this.#listeners.add(listener);
    if (this.#stop === undefined) this.#start();
    else if (this.#client !== undefined) void this.#begin(this.#client, listener).catch(() => undefined);
    return () => {
      if (!this.#listeners.delete(listener)) return;
      if (this.#listeners.size === 0) this.#end();
      else if (this.#client !== undefined)
        void this.#query(this.#client, `UNLISTEN "${listener.channel()}"`).catch(() => undefined);
    };
  }

  /** Removes all listeners, and releases the connection. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#end();
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#client = undefined;
  }

  #start(): void {
    const stop = new AbortController();
    this.#stop = stop;
    const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
    const keepListening = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await this.#database
          .keepClient((client) => this.#listenUntilClosed(client, stop.signal, stopped))
          .catch(() => undefined);
        if (this.#stop === stop) this.#client = undefined;
        await Promise.race([stopped, unreferencedDelay(reconnectMs)]);
      }
    };
    void keepListening();
  }

  /** Listens until the connection breaks or `stopped` resolves. Does not keep the process alive meanwhile. */
  async #listenUntilClosed(
    client: PostgresClient,
    signal: AbortSignal,
    stopped: Promise<void>,
  ): Promise<void> {
    const ended = new Promise<void>((resolve) => client.on("end", resolve));
    client.on("notification", ({ channel, payload }) => {
      if (signal.aborted) return;
      for (const listener of this.#listeners)
        if (listener.channel() === channel) listener.onPayload(payload ?? "");
    });
    // Includes listeners that are added meanwhile.
    for (const listener of this.#listeners) await this.#begin(client, listener);
    if (signal.aborted) return;
    this.#client = client;
    client.unref?.();
    await Promise.race([ended, stopped]);
    // From here on, closing the pool may wait for this connection.
    client.ref?.();
  }

  async #begin(client: PostgresClient, listener: ChannelListener): Promise<void> {
    await this.#query(client, `LISTEN "${listener.channel()}"`);
    if (this.#listeners.has(listener)) listener.onConnect?.();
  }

  async #query(client: PostgresClient, sql: string): Promise<void> {
    const sent = this.#sent.then(async () => client.query(sql));
    this.#sent = sent.catch(() => undefined);
    await sent;
  }
}

const unreferencedDelay = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());
