import type { Clock } from "@moora/agent-core-effects";
import { questionKey } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, Question, SubAgentEvent } from "../agent-event.ts";
import type { LiveText, SentEvent, SentSubAgentEvent, ViewedSession } from "./live-texts.ts";

/** What a publisher reads of the session that a process runs, or of an effect that runs in a process by itself. */
export interface StreamedSession {
  /** The sequence number of its last record, for an effect that of the session at its start. */
  seq(): number;
  /** The text of the message that is being streamed. */
  streaming(): { readonly messageId: string; readonly text: string } | null;
  /** The reasoning of the message that is being streamed, as far as it was streamed; undefined if that is not known. */
  reasoning(): StreamedReasoning | undefined;
  /** The message of the model call that may have streamed already; undefined if there is none. */
  startedMessage(): string | undefined;
  /** The open questions, with those of sub-agents. */
  questions(): readonly Question[];
  /** Calls the listener with the sequence number of each new record. Returns a function that unsubscribes. */
  onRecord(listener: (seq: number) => void): () => void;
  /** Calls the listener with each event. Returns a function that unsubscribes. */
  onEvent(listener: (event: AgentEvent<unknown>) => void): () => void;
}

/** Reasoning in the order of its parts. `part` is the number of a part in its message, where the model counts them. */
export interface StreamedReasoning {
  readonly messageId: string;
  readonly parts: readonly { readonly part: number | undefined; readonly text: string }[];
}

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
  readonly #asked = new Set<string>();
  #pending: SentEvent[] = [];
  #seq = 0;
  /** The attempt that had begun when this began to listen: only its text is known from its beginning. */
  #startedAttempt: string | undefined;
  #detach: (() => void) | undefined;
  #cancelPace: (() => void) | undefined;

  constructor(session: StreamedSession, options: PublisherOptions) {
    this.#session = session;
    this.#options = options;
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
    const rest = streaming?.text.slice(has) ?? "";
    const questions = this.#session.questions().filter(({ path = [] }) => path.length > 0);
    for (const question of questions) this.#asked.add(questionKey(question));
    if (rest === "" && questions.length === 0 && !isNew && !viewed.isAsked) return;
    const begin = (piece: string, offset: number): LiveText => ({
      type: "begin",
      ...this.#head(),
      streaming: streaming === null ? null : { messageId: streaming.messageId, offset, text: piece },
      ...(offset === has ? { questions } : {}),
    });
    let offset = has;
    do {
      const piece = streaming?.text.slice(offset, offset + maxPieceLength) ?? "";
      this.#options.send(server, begin(piece, offset));
      offset += maxPieceLength;
    } while (offset < has + rest.length);
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
    this.#asked.clear();
    this.#pending = [];
  }

  #attach(): void {
    this.#seq = this.#session.seq();
    this.#startedAttempt = this.#session.startedMessage();
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
    const sent = this.#sentOf(event);
    if (sent === undefined) return;
    const last = this.#pending.at(-1);
    const joined = last === undefined ? undefined : joinedText(last, sent);
    if (joined === undefined) this.#pending.push(sent);
    else this.#pending[this.#pending.length - 1] = joined;
    if (this.#cancelPace === undefined) this.#flushInPace();
  }

  #sentOf(event: AgentEvent<unknown>): SentEvent | undefined {
    switch (event.type) {
      case "LlmToken":
        return this.#isWhole(event) || this.#isShown(event) ? { event, offset: event.offset } : undefined;
      case "LlmReasoning":
        return { event, offset: event.offset };
      case "LlmToolCall":
      case "LlmToolCallDelta":
      case "LlmPartEnded":
        return this.#isWhole(event) ? { event } : undefined;
      case "ToolCallProgress":
      case "LlmWarning":
        return { event };
      case "SubAgentEvent": {
        const sentEvent = this.#subAgentEvent(event);
        return sentEvent === undefined ? undefined : { event: sentEvent };
      }
      case "StateStarted":
      case "DataChanged":
      case "LlmRetryScheduled":
      case "LlmAttemptEnded":
      case "ToolCallStarted":
      case "ToolCallFinished":
      case "ToolCallRetryScheduled":
      case "HandedOff":
      case "Paused":
      case "Resumed":
      case "ApprovalRequested":
      case "FinalAnswer":
      case "Error":
        return undefined;
    }
  }

  #isWhole({ messageId }: { readonly messageId: string }): boolean {
    return messageId !== this.#startedAttempt;
  }

  /** Whether the session has the record of the beginning of a message, so that servers can ask for the text before. */
  #isShown({ messageId }: { readonly messageId: string }): boolean {
    return this.#session.streaming()?.messageId === messageId;
  }

  #subAgentEvent({ type, toolCallId, path, event }: SubAgentEvent): SentSubAgentEvent | undefined {
    if (event.type === "ApprovalRequested") {
      this.#asked.add(questionKey({ path, toolCallId: event.toolCallId }));
      const { decide: _, ...question } = event;
      return { type, toolCallId, path, event: question };
    }
    if (event.type !== "ToolCallStarted" && event.type !== "ToolCallFinished") return undefined;
    const key = questionKey({ path, toolCallId: event.toolCallId });
    if (!this.#asked.has(key)) return undefined;
    if (event.type === "ToolCallFinished") this.#asked.delete(key);
    return { type, toolCallId, path, event };
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
