import type { Database } from "./database.ts";
import { ListeningConnection, type ChannelListener } from "./listening-connection.ts";
import type { PostgresClient } from "./postgres-pool.ts";

/** The delay before a broken connection is replaced. */
const reconnectMs = 1_000;

/** The notifications of a database: one connection listens to all channels while there is one, and is replaced when it breaks. */
export class Notifications {
  readonly #database: Database;
  readonly #listeners = new Set<ChannelListener>();
  #connection: ListeningConnection | undefined;
  #stop: AbortController | undefined;
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds a listener; returns a function that removes it. A channel has one listener at a time. */
  listen(listener: ChannelListener): () => void {
    if (this.#isClosed) return () => undefined;
    this.#listeners.add(listener);
    if (this.#stop === undefined) this.#start();
    else void this.#connection?.listen(listener);
    return () => {
      if (!this.#listeners.delete(listener)) return;
      if (this.#listeners.size === 0) this.#end();
      else void this.#connection?.unlisten(listener);
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
    this.#connection?.close();
    this.#connection = undefined;
  }

  #start(): void {
    const stop = new AbortController();
    this.#stop = stop;
    const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
    const keepListening = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await this.#database
          .keepClient((client) => this.#listenUntilFailed(client, stop.signal, stopped))
          .catch(() => undefined);
        if (this.#stop === stop) this.#connection = undefined;
        await Promise.race([stopped, unreferencedDelay(reconnectMs)]);
      }
    };
    void keepListening();
  }

  /** Listens until the connection fails or `stopped` resolves. Does not keep the process alive meanwhile. */
  async #listenUntilFailed(
    client: PostgresClient,
    signal: AbortSignal,
    stopped: Promise<void>,
  ): Promise<void> {
    if (signal.aborted) return;
    const connection = new ListeningConnection(client);
    this.#connection = connection;
    await Promise.all([...this.#listeners].map((listener) => connection.listen(listener)));
    if (signal.aborted) return;
    client.unref?.();
    await Promise.race([connection.failed, stopped]);
    // From here on, closing the pool may wait for this connection.
    client.ref?.();
  }
}

const unreferencedDelay = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());
