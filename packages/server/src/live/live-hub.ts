import type { Clock, DurableSession } from "@moora/agent";
import { digestOf, type LiveChannel } from "@moora/event-log";
import { incarnationOf } from "../sessions/history-position.ts";
import type { AnswerDraft } from "./answer-draft.ts";
import type { LiveFeed } from "./live-feed.ts";
import { LivePublisher } from "./live-publisher.ts";
import { liveTextOf, viewersTopic, viewerTextOf, type ViewedSession, type ViewerText } from "./live-texts.ts";

/** How often a server says again which sessions it has viewers of, in milliseconds. Two of these may be lost. */
const requestMs = 20_000;
/** The most sessions in one request. */
const maxSessions = 500;

/** The key of a session among servers: another session with the same id has another one. */
export const liveKeyOf = (session: DurableSession<unknown>): string =>
  digestOf("live", session.id, incarnationOf(session));

/**
 * The connection of a server with the others on its log, over the live channel of the log. What a session streams goes only to
 * servers that have viewers of it: they ask for it.
 */
export class LiveHub {
  readonly #channel: LiveChannel;
  readonly #clock: Clock;
  /** The topic of this server. */
  readonly #server = crypto.randomUUID();
  readonly #publishers = new Map<string, LivePublisher>();
  readonly #feeds = new Map<string, LiveFeed>();
  #stops: readonly (() => void)[] = [];
  #cancelRequest: (() => void) | undefined;

  constructor(channel: LiveChannel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
  }

  /** Sends what a session streams that this server runs, to servers that ask. Returns a function that ends it. */
  publish(session: DurableSession<unknown>, draft: () => AnswerDraft | undefined): () => void {
    this.#subscribe();
    const key = liveKeyOf(session);
    const publisher = new LivePublisher(session, {
      key,
      clock: this.#clock,
      draft,
      send: (server, text) => this.#channel.publish(server, JSON.stringify(text)),
    });
    this.#publishers.set(key, publisher);
    return () => {
      publisher.close();
      if (this.#publishers.get(key) === publisher) this.#publishers.delete(key);
    };
  }

  /** Asks for what a session streams that another server runs. Returns a function that ends it. */
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

  /** Asks the owner of a session for what its viewers do not have. */
  ask(key: string): void {
    const feed = this.#feeds.get(key);
    if (feed !== undefined) this.#request([feed.viewed]);
  }

  close(): void {
    this.#cancelRequest?.();
    for (const stop of this.#stops) stop();
    for (const publisher of this.#publishers.values()) publisher.close();
    for (const feed of this.#feeds.values()) feed.close();
    this.#publishers.clear();
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
    if (text === undefined || text.server === this.#server) return;
    if (text.type === "view")
      for (const viewed of text.sessions) this.#publishers.get(viewed.session)?.view(text.server, viewed);
    else for (const key of text.sessions) this.#publishers.get(key)?.leave(text.server);
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
