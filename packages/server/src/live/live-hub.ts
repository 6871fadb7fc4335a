import type { Clock, DurableSession } from "@moora/agent";
import {
  LivePublishers,
  viewersTopic,
  viewerTextOf,
  type ViewedSession,
  type ViewerText,
} from "@moora/agent/internal";
import type { LiveChannel } from "@moora/event-log";
import type { LiveFeed } from "./live-feed.ts";
import { liveTextOf } from "./live-texts.ts";

/** How often a server repeats which sessions it has viewers of, in milliseconds. Two of these may be lost. */
const requestMs = 20_000;
/** The most sessions in one request. */
const maxSessions = 500;

/**
 * The connection of a server with the others on its log, and with processes that run effects, over the live channel of the log. What a
 * session streams goes only to servers that have viewers of it: they ask for it.
 */
export class LiveHub {
  readonly #channel: LiveChannel;
  readonly #clock: Clock;
  /** The topic of this server. */
  readonly #server = crypto.randomUUID();
  readonly #publishers: LivePublishers;
  readonly #feeds = new Map<string, LiveFeed>();
  #stops: readonly (() => void)[] = [];
  #cancelRequest: (() => void) | undefined;

  constructor(channel: LiveChannel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    this.#publishers = new LivePublishers(channel, clock);
  }

  /** Sends what a session streams that this server runs, to servers that ask. Returns a function that ends it. */
  publish(key: string, session: DurableSession<unknown>): () => void {
    this.#subscribe();
    const { seq, draft, questions, onEvent } = session;
    const onRecord = (listener: (seq: number) => void): (() => void) =>
      session.onInput((_input, _state, recordSeq) => listener(recordSeq));
    return this.#publishers.publish(key, { seq, draft, questions, onEvent, onRecord });
  }

  /** Asks for what a session streams that another process runs. Returns a function that ends it. */
  follow(key: string, feed: LiveFeed): () => void {
    this.#subscribe();
    this.#feeds.set(key, feed);
    this.#request([feed.viewed]);
    this.#requestLater();
    return () => {
      feed.close();
      if (this.#feeds.get(key) !== feed) return;
      this.#feeds.delete(key);
      this.#send({ type: "leave", server: this.#server, sessions: [key] });
      if (this.#feeds.size > 0) return;
      this.#cancelRequest?.();
      this.#cancelRequest = undefined;
    };
  }

  /** Asks the owner of a session for what its viewers at this server do not have. */
  ask(key: string): void {
    const feed = this.#feeds.get(key);
    if (feed !== undefined) this.#request([feed.viewed]);
  }

  close(): void {
    this.#cancelRequest?.();
    for (const stop of this.#stops) stop();
    this.#publishers.close();
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }

  #subscribe(): void {
    if (this.#stops.length > 0) return;
    this.#stops = [
      this.#channel.subscribe(viewersTopic, (text) => this.#viewerText(text)),
      this.#channel.subscribe(this.#server, (text) => this.#liveText(text)),
    ];
  }

  #liveText(json: string): void {
    const text = liveTextOf(json);
    if (text !== undefined) this.#feeds.get(text.session)?.receive(text);
  }

  #viewerText(json: string): void {
    const text = viewerTextOf(json);
    if (text === undefined) return;
    if (text.type === "ask") this.ask(text.session);
    else if (text.server !== this.#server) this.#publishers.receive(text);
  }

  #requestLater(): void {
    this.#cancelRequest ??= this.#clock.after(
      requestMs,
      () => {
        this.#cancelRequest = undefined;
        this.#request([...this.#feeds.values()].map((feed) => feed.viewed));
        this.#requestLater();
      },
      { keepsAlive: false },
    );
  }

  #request(viewed: readonly ViewedSession[]): void {
    for (let start = 0; start < viewed.length; start += maxSessions) {
      const sessions = viewed.slice(start, start + maxSessions);
      this.#send({ type: "view", server: this.#server, sessions });
    }
  }

  #send(text: ViewerText): void {
    this.#channel.publish(viewersTopic, JSON.stringify(text));
  }
}
