import type { PostgresClient } from "./postgres-pool.ts";

/** Receives the notifications of a channel. */
export interface ChannelListener {
  /** The name of the channel. Called when a connection exists, and the tables of the log with it. */
  readonly channel: () => string;
  readonly onPayload: (payload: string) => void;
  /** Called each time a connection listens. Earlier notifications may have been missed. */
  readonly onConnect?: () => void;
}

/** A connection that listens to channels. A channel has one listener at a time. */
export class ListeningConnection {
  readonly #client: PostgresClient;
  readonly #byChannel = new Map<string, ChannelListener>();
  readonly #failed = Promise.withResolvers<void>();
  /** Settles when the statements so far have ended: a connection takes one at a time. */
  #sent: Promise<unknown> = Promise.resolve();

  constructor(client: PostgresClient) {
    this.#client = client;
    client.on("end", this.#failed.resolve);
    client.on("notification", ({ channel = "", payload = "" }) =>
      this.#byChannel.get(channel)?.onPayload(payload),
    );
  }

  /** Resolves when the connection has ended, or a channel could not be listened to. */
  get failed(): Promise<void> {
    return this.#failed.promise;
  }

  async listen(listener: ChannelListener): Promise<void> {
    const channel = listener.channel();
    this.#byChannel.set(channel, listener);
    const isListening = await this.#query(`LISTEN "${channel}"`);
    if (!isListening) this.#failed.resolve();
    else if (this.#byChannel.get(channel) === listener) listener.onConnect?.();
  }

  async unlisten(listener: ChannelListener): Promise<void> {
    const channel = listener.channel();
    this.#byChannel.delete(channel);
    // A channel without a listener is ignored.
    await this.#query(`UNLISTEN "${channel}"`);
  }

  /** Removes all listeners. */
  close(): void {
    this.#byChannel.clear();
  }

  /** Returns whether the statement worked. */
  async #query(sql: string): Promise<boolean> {
    const sent = this.#sent.then(async () => this.#client.query(sql));
    this.#sent = sent.catch(() => undefined);
    return sent.then(
      () => true,
      () => false,
    );
  }
}
