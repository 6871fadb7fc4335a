import type { AgentEvent, Clock, DurableSession, SubAgentEvent } from "@moora/agent";
import { answerMessageId } from "@moora/agent/internal";
import { questionKey } from "@moora/agent-webui-protocol";
import { reasoningOf, type AnswerDraft } from "./answer-draft.ts";
import type { SentSubAgentEvent, LiveText, SentEvent, ViewedSession } from "./live-texts.ts";

/** How long a server counts as one with viewers after its last request, in milliseconds. */
export const interestMs = 60_000;
/** The shortest time between two texts of one session, in milliseconds. What is streamed meanwhile is sent together. */
const paceMs = 25;
/** The longest piece of a message in one text. */
const maxPieceLength = 32_768;

export interface PublisherOptions {
  /** The key of the session among servers. */
  readonly key: string;
  readonly clock: Clock;
  /** What the model has written of its answer. */
  readonly draft: () => AnswerDraft | undefined;
  /** Sends a text to a server. */
  readonly send: (server: string, text: LiveText) => void;
}

/** Sends what a session streams to the servers that have viewers of it. It listens to the session only while there are some. */
export class LivePublisher {
  readonly #session: DurableSession<unknown>;
  readonly #options: PublisherOptions;
  readonly #feed = crypto.randomUUID();
  /** When the interest of each server ends, in milliseconds since 1970. */
  readonly #servers = new Map<string, number>();
  readonly #asked = new Set<string>();
  #pending: SentEvent[] = [];
  #seq = 0;
  #messageId = "";
  #lengths = { text: 0, reasoning: 0 };
  /** The attempt that had begun when this began to listen: its text and its reasoning are known from their beginning, but not its calls. */
  #startedAttempt: string | undefined;
  #detach: (() => void) | undefined;
  #cancelPace: (() => void) | undefined;

  constructor(session: DurableSession<unknown>, options: PublisherOptions) {
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
    const { streaming } = this.#session.current();
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
    const draft = this.#options.draft();
    if (draft === undefined) return;
    const { messageId } = draft;
    let offset = 0;
    for (const { part, text } of reasoningOf(draft)) {
      for (let start = 0; start < text.length; start += maxPieceLength) {
        const piece = text.slice(start, start + maxPieceLength);
        const numbered = part === undefined ? {} : { part };
        const event = { type: "LlmReasoning", messageId, ...numbered, text: piece } as const;
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
    const { streaming, reActContext } = this.#session.current();
    const { control } = reActContext;
    this.#seq = this.#session.seq();
    const draft = this.#options.draft();
    const reasoning = draft === undefined ? [] : reasoningOf(draft);
    this.#messageId = draft?.messageId ?? streaming?.messageId ?? "";
    this.#lengths = {
      text: streaming?.text.length ?? 0,
      reasoning: reasoning.reduce((sum, { text }) => sum + text.length, 0),
    };
    this.#startedAttempt = control.type === "Planning" ? answerMessageId(reActContext, control) : undefined;
    const stops = [
      this.#session.onInput((_input, _state, seq) => {
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
      case "LlmToken": {
        const offset = this.#textOffset(event);
        return offset === undefined ? undefined : { event, offset };
      }
      case "LlmReasoning":
        return { event, offset: this.#count(event, "reasoning") };
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

  /** Where a token begins in its text; undefined if tokens before it may have been missed, and the session does not show them yet. */
  #textOffset(event: Extract<AgentEvent<unknown>, { type: "LlmToken" }>): number | undefined {
    const counted = this.#count(event, "text");
    const { streaming } = this.#session.current();
    if (streaming?.messageId === event.messageId) return streaming.text.length - event.text.length;
    // The record of the message's beginning is not in the session yet.
    return this.#isWhole(event) ? counted : undefined;
  }

  /** Counts a text of a message. Returns where it begins. */
  #count(
    { messageId, text }: { readonly messageId: string; readonly text: string },
    kind: "text" | "reasoning",
  ): number {
    if (messageId !== this.#messageId) this.#lengths = { text: 0, reasoning: 0 };
    this.#messageId = messageId;
    const offset = this.#lengths[kind];
    this.#lengths[kind] = offset + text.length;
    return offset;
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
