import type { AgentEvent, DurableSession, Question, SessionView } from "@moora/agent";
import {
  answerMessageId,
  openCallsOf,
  type LiveText,
  type SentEvent,
  type SentSubAgentEvent,
  type StreamedText,
  type ViewedSession,
} from "@moora/agent/internal";
import { questionKey } from "@moora/agent-webui-protocol";
import type { ReceivedMessages } from "./received-messages.ts";

export interface FeedOptions {
  /** The key of the session among servers. */
  readonly key: string;
  /** The most UTF-16 code units that wait for records. */
  readonly maxHeld: number;
  readonly messages: ReceivedMessages;
  readonly emit: (event: AgentEvent<unknown>) => void;
  /** Asks the owner for what is missing. */
  readonly ask: () => void;
}

type Item = SentEvent | { readonly questions: readonly Question[] } | { readonly streaming: StreamedText };

interface Held {
  readonly item: Item;
  readonly feed: string;
  readonly seq: number;
  readonly length: number;
}

/**
 * What the owner of a session streams, for the viewers at this server. Each event waits for the records that were before it. An event
 * whose message or call has ended is dropped; so is a text of which the part before is missing.
 */
export class LiveFeed {
  readonly #session: DurableSession<unknown>;
  readonly #options: FeedOptions;
  readonly #messages: ReceivedMessages;
  readonly #questions = new Map<string, Question>();
  readonly #stopListening: () => void;
  #held: Held[] = [];
  #heldLength = 0;
  #hasBegun = false;
  #isDraining = false;

  constructor(session: DurableSession<unknown>, options: FeedOptions) {
    this.#session = session;
    this.#options = options;
    this.#messages = options.messages;
    this.#stopListening = session.onInput(({ type }) => {
      // Another owner: it does not know of these viewers.
      if (type === "session-opened") {
        this.#hasBegun = false;
        options.ask();
      }
      this.#drainSoon();
    });
  }

  /** What the viewers have, for the owner. */
  get viewed(): ViewedSession {
    const { messageId, text } = this.#messages.current ?? { messageId: null, text: "" };
    return {
      session: this.#options.key,
      messageId,
      length: text.length,
      isAsked: this.#questions.size > 0,
      isNew: !this.#hasBegun,
    };
  }

  /** The text of the message that is being streamed. */
  get streaming(): SessionView["streaming"] {
    const { current } = this.#messages;
    if (current === undefined || current.text === "") return null;
    const { messageId, text } = current;
    const { control } = this.#session.current().reActContext;
    return control.type === "Planning" && control.messageId === messageId ? { messageId, text } : null;
  }

  /** Whether the owner has sent the questions that are open. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The open questions of sub-agents. */
  get questions(): readonly Question[] {
    return [...this.#questions.values()].filter(({ path = [] }) => this.#isOpen(path[0]));
  }

  receive(text: LiveText): void {
    const { feed, seq } = text;
    const items = text.type === "events" ? text.events : itemsOfBegin(text);
    if (items.length === 0) return;
    const { length } = JSON.stringify(text);
    if (this.#heldLength + length > this.#options.maxHeld) this.#dropHeld();
    for (const item of items) this.#held.push({ item, feed, seq, length: length / items.length });
    this.#heldLength += length;
    this.#drain();
  }

  close(): void {
    this.#stopListening();
    this.#dropHeld();
  }

  #dropHeld(): void {
    this.#held = [];
    this.#heldLength = 0;
  }

  /** After the listeners of the session: a viewer has a record before what follows it. */
  #drainSoon(): void {
    if (this.#isDraining || this.#held.length === 0) return;
    this.#isDraining = true;
    queueMicrotask(() => {
      this.#isDraining = false;
      this.#drain();
    });
  }

  #drain(): void {
    for (let [held] = this.#held; held !== undefined; [held] = this.#held) {
      const verdict = held.seq > this.#session.seq() ? "hold" : this.#verdictOf(held.item);
      if (verdict === "hold") return;
      this.#held.shift();
      this.#heldLength = this.#held.length === 0 ? 0 : this.#heldLength - held.length;
      if (verdict === "pass") this.#apply(held);
    }
  }

  /** What becomes of an event at a state that is not before it. */
  #verdictOf(item: Item): "hold" | "pass" | "drop" {
    if ("questions" in item) return "pass";
    if ("streaming" in item) return this.#textVerdict(item.streaming);
    const { event } = item;
    switch (event.type) {
      case "LlmToken":
        return this.#textVerdict(event);
      case "LlmReasoning":
      case "LlmToolCall":
      case "LlmToolCallDelta":
      case "LlmPartEnded":
        return this.#isAttempt(event.messageId) ? "pass" : "drop";
      case "ToolCallProgress":
      case "SubAgentEvent":
        return this.#isOpen(event.toolCallId) ? "pass" : "drop";
      case "LlmWarning":
        return "pass";
    }
  }

  /** A text waits for the record of the beginning of its message. */
  #textVerdict({ messageId }: { readonly messageId: string }): "hold" | "pass" | "drop" {
    if (!this.#isAttempt(messageId)) return "drop";
    const { control } = this.#session.current().reActContext;
    return control.type === "Planning" && control.messageId === messageId ? "pass" : "hold";
  }

  #isAttempt(messageId: string): boolean {
    const { reActContext } = this.#session.current();
    const { control } = reActContext;
    return control.type === "Planning" && answerMessageId(reActContext, control) === messageId;
  }

  #isOpen(toolCallId: string | undefined): boolean {
    return openCallsOf(this.#session.current().reActContext.control).some(({ id }) => id === toolCallId);
  }

  #apply({ item, feed }: Held): void {
    if ("questions" in item) {
      this.#hasBegun = true;
      this.#setQuestions(item.questions);
    } else if ("streaming" in item) this.#messages.begin(feed, item.streaming);
    else if (item.event.type === "SubAgentEvent") this.#subAgentEvent(item.event);
    else if (item.event.type === "ToolCallProgress" || item.event.type === "LlmWarning")
      this.#options.emit(item.event);
    else this.#messages.add(feed, item.event, item.offset ?? 0);
  }

  #setQuestions(questions: readonly Question[]): void {
    const keys = new Set(questions.map(questionKey));
    for (const [key, { path = [], toolCallId, name }] of this.#questions) {
      if (keys.has(key)) continue;
      // It was answered.
      const event = { type: "ToolCallStarted", toolCallId, name, parameters: "" } as const;
      this.#subAgentEvent({ type: "SubAgentEvent", toolCallId: path[0] ?? "", path, event });
    }
    for (const question of questions) {
      const { path = [] } = question;
      const event = { type: "ApprovalRequested", ...question } as const;
      this.#subAgentEvent({ type: "SubAgentEvent", toolCallId: path[0] ?? "", path, event });
    }
  }

  #subAgentEvent({ event, ...call }: SentSubAgentEvent): void {
    const key = questionKey({ path: call.path, toolCallId: event.toolCallId });
    if (event.type !== "ApprovalRequested") {
      this.#questions.delete(key);
      return this.#options.emit({ ...call, event });
    }
    const { type, ...question } = event;
    if (JSON.stringify(this.#questions.get(key)) === JSON.stringify(question)) return;
    this.#questions.set(key, question);
    const session = this.#session;
    const decide: DecideQuestion = (decision, by) => session.decide(question, decision, by);
    this.#options.emit({ ...call, event: { type, ...question, decide } });
  }
}

const itemsOfBegin = ({ questions, streaming }: Extract<LiveText, { type: "begin" }>): readonly Item[] => [
  ...(questions === undefined ? [] : [{ questions }]),
  ...(streaming === null ? [] : [{ streaming }]),
];

type DecideQuestion = Extract<AgentEvent<unknown>, { type: "ApprovalRequested" }>["decide"];
