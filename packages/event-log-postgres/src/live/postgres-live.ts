import { digestOf, maxLiveTextLength, type LiveChannel } from "@moora/event-log";
import { LiveTopics } from "@moora/event-log/store";
import type { Database } from "../database.ts";
import type { Notifications } from "../notifications.ts";
import { storedToText, textToStored } from "../stored-text.ts";
import { FragmentReader, FragmentWriter } from "./fragments.ts";

/** The most UTF-16 code units that wait to be sent; further texts are lost. */
const maxWaiting = 4 * maxLiveTextLength;

const publish =
  "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)";

interface Outgoing {
  readonly topic: string;
  readonly text: string;
}

/**
 * A live channel of notifications: one channel of PostgreSQL for each topic. What is published while a statement is under way is sent
 * together with the next one. Such a transaction writes nothing, and does not wait for the disk.
 */
export class PostgresLive implements LiveChannel {
  readonly #database: Database;
  readonly #notifications: Notifications;
  readonly #topics = new LiveTopics();
  readonly #stops = new Map<string, () => void>();
  readonly #writer = new FragmentWriter();
  #waiting: Outgoing[] = [];
  #waitingLength = 0;
  #isSending = false;

  constructor(database: Database, notifications: Notifications) {
    this.#database = database;
    this.#notifications = notifications;
  }

  publish(topic: string, text: string): void {
    if (text.length > maxLiveTextLength || this.#waitingLength + text.length > maxWaiting) return;
    this.#waiting.push({ topic, text });
    this.#waitingLength += text.length;
    if (!this.#isSending) void this.#send();
  }

  subscribe(topic: string, listener: (text: string) => void): () => void {
    const remove = this.#topics.add(topic, listener);
    if (!this.#stops.has(topic)) this.#stops.set(topic, this.#listen(topic));
    return () => {
      remove();
      if (this.#topics.has(topic)) return;
      this.#stops.get(topic)?.();
      this.#stops.delete(topic);
    };
  }

  #listen(topic: string): () => void {
    let reader = new FragmentReader();
    return this.#notifications.listen({
      channel: () => this.#channelOf(topic),
      onPayload: (payload) => {
        const text = reader.textOf(payload);
        if (text !== undefined) this.#topics.deliver(topic, storedToText(text));
      },
      onConnect: () => (reader = new FragmentReader()),
    });
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const outgoing = this.#waiting;
      this.#waiting = [];
      this.#waitingLength = 0;
      // What could not be sent is lost.
      await this.#notify(outgoing).catch(() => undefined);
    }
    this.#isSending = false;
  }

  async #notify(outgoing: readonly Outgoing[]): Promise<void> {
    await this.#database.run("publish", async (query, isRetry) => {
      // An earlier attempt may have sent them.
      if (isRetry) return;
      const channels: string[] = [];
      const payloads: string[] = [];
      for (const { topic, text } of outgoing) {
        const channel = this.#channelOf(topic);
        for (const payload of this.#writer.payloadsOf(textToStored(text))) {
          channels.push(channel);
          payloads.push(payload);
        }
      }
      await query(publish, channels, payloads);
    });
  }

  /** The channel of a topic in this log: other logs in the database have others. At most 63 bytes, as PostgreSQL requires. */
  #channelOf(topic: string): string {
    const { prefix, logId } = this.#database;
    return `${prefix}live_${digestOf("live", logId, topic).slice(0, 16)}`;
  }
}
