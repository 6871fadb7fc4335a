import type { Clock } from "@moora/agent-core-effects";
import type { AgentEvent, Question } from "../agent-event.ts";
import type { LiveText, SentEvent, ViewedSession } from "./live-texts.ts";
import { SentEvents } from "./sent-events.ts";
import type { StreamedSession } from "./streamed-session.ts";

/** How long a server counts as one with viewers after its last request, in milliseconds. */
const interestMs = 60_000;
/** The shortest time between two texts of one session, in milliseconds. What is streamed meanwhile is sent together. */
const paceMs = 25;
/** The longest piece of a message in one text. */
const maxPieceLength = 32_768;

export interface PublisherOptions {
  /** The key of the session among servers. */
  readonly key: string;
  readonly clock: Clock;
  /** Sends a text to a server. */
  readonly send: (server: string, text: LiveText) => void;
}

/** Sends what a session streams to the servers that have viewers of it. It listens to the session only while there are some. */
export class LivePublisher {
  readonly #session: StreamedSession;
  readonly #options: PublisherOptions;
  readonly #feed = crypto.randomUUID();
  /** When the interest of each server ends, in milliseconds since 1970. */
  readonly #servers = new Map<string, number>();
  readonly #events: SentEvents;
  #pending: SentEvent[] = [];
  #seq = 0;
  #detach: (() => void) | undefined;
  #cancelPace: (() => void) | undefined;

  constructor(session: StreamedSession, options: PublisherOptions) {
    this.#session = session;
    this.#options = options;
    this.#events = new SentEvents(session);
  }

  /** Adds a server with viewers, and sends it what they do not have. */
  view(server: string, viewed: ViewedSession): void {
    // For the servers so far: what a new one is sent contains it.
    this.#flush();
    const isNew = viewed.isNew || !this.#servers.has(server);
    this.#servers.set(server, this.#options.clock.now() + interestMs);
    if (this.#detach === undefined) this.#attach();
    if (isNew) this.#sendReasoning(server);
    const streaming = this.#session.streaming();
    const has = streaming?.messageId === viewed.messageId ? viewed.length : 0;
    const hasAll = (streaming?.text.length ?? 0) <= has;
    const questions = this.#session.questions().filter(({ path = [] }) => path.length > 0);
    for (const question of questions) this.#events.ask(question);
    if (hasAll && questions.length === 0 && !isNew && !viewed.isAsked) return;
    this.#sendText(server, has, questions);
  }

  /** Sends the text of the message from an offset on, in pieces, and the questions with the first one. */
  #sendText(server: string, from: number, questions: readonly Question[]): void {
    const streaming = this.#session.streaming();
    const begin = (piece: string, offset: number): LiveText => ({
      type: "begin",
      ...this.#head(),
      streaming: streaming === null ? null : { messageId: streaming.messageId, offset, text: piece },
      ...(offset === from ? { questions } : {}),
    });
    let offset = from;
    do {
      const piece = streaming?.text.slice(offset, offset + maxPieceLength) ?? "";
      this.#options.send(server, begin(piece, offset));
      offset += maxPieceLength;
    } while (offset < (streaming?.text.length ?? 0));
  }

  /** Sends the reasoning so far, before the text. A server that has it ignores it. */
  #sendReasoning(server: string): void {
    const reasoning = this.#session.reasoning();
    if (reasoning === undefined) return;
    const { messageId, parts } = reasoning;
    let offset = 0;
    for (const { part, text } of parts) {
      for (let start = 0; start < text.length; start += maxPieceLength) {
        const piece = text.slice(start, start + maxPieceLength);
        const numbered = part === undefined ? {} : { part };
        const event = { type: "LlmReasoning", messageId, ...numbered, text: piece, offset } as const;
        this.#options.send(server, { type: "events", ...this.#head(), events: [{ event, offset }] });
        offset += piece.length;
      }
    }
  }

  leave(server: string): void {
    this.#servers.delete(server);
    if (this.#servers.size === 0) this.close();
  }

  close(): void {
    this.#detach?.();
    this.#detach = undefined;
    this.#cancelPace?.();
    this.#cancelPace = undefined;
    this.#servers.clear();
    this.#events.clear();
    this.#pending = [];
  }

  #attach(): void {
    this.#seq = this.#session.seq();
    this.#events.begin();
    const stops = [
      this.#session.onRecord((seq) => {
        this.#flush();
        this.#seq = seq;
      }),
      this.#session.onEvent((event) => this.#event(event)),
    ];
    this.#detach = () => {
      for (const stop of stops) stop();
    };
  }

  #event(event: AgentEvent<unknown>): void {
    const sent = this.#events.sentOf(event);
    if (sent === undefined) return;
    const last = this.#pending.at(-1);
    const joined = last === undefined ? undefined : joinedText(last, sent);
    if (joined === undefined) this.#pending.push(sent);
    else this.#pending[this.#pending.length - 1] = joined;
    if (this.#cancelPace === undefined) this.#flushInPace();
  }

  /** Sends what waits, and the next texts after a pause. */
  #flushInPace(): void {
    this.#flush();
    this.#cancelPace = this.#options.clock.after(
      paceMs,
      () => {
        this.#cancelPace = undefined;
        if (this.#pending.length > 0) this.#flushInPace();
      },
      { keepsAlive: false },
    );
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const events = this.#pending;
    this.#pending = [];
    const now = this.#options.clock.now();
    for (const [server, until] of this.#servers) {
      if (until > now) this.#options.send(server, { type: "events", ...this.#head(), events });
      else this.leave(server);
    }
  }

  #head(): { readonly session: string; readonly feed: string; readonly seq: number } {
    return { session: this.#options.key, feed: this.#feed, seq: this.#seq };
  }
}

/** Two pieces of one text as one; undefined for others. */
function joinedText(one: SentEvent, other: SentEvent): SentEvent | undefined {
  const isOneText =
    one.event.type === "LlmToken" &&
    other.event.type === "LlmToken" &&
    one.event.messageId === other.event.messageId &&
    one.event.part === other.event.part;
  if (!isOneText) return undefined;
  return { ...one, event: { ...one.event, text: one.event.text + other.event.text } };
}
