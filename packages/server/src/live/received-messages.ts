import type { AgentEvent } from "@moora/agent";
import type { StreamedEvent, StreamedText } from "@moora/agent/internal";

/** An event about a message that a model is writing. */
type MessageEvent = Exclude<StreamedEvent, { type: "LlmWarning" | "ToolCallProgress" }>;

interface ReceivedMessage {
  readonly feed: string;
  readonly messageId: string;
  text: string;
  reasoning: number;
  /** The length of the arguments so far, by call. */
  readonly calls: Map<string, number>;
  /** Whether nothing is missing since its beginning. Otherwise only its text is shown. */
  isWhole: boolean;
}

interface MessageHost {
  readonly emit: (event: AgentEvent<unknown>) => void;
  readonly ask: () => void;
}

/** The message that a server receives from the owner of its session. What it emits has no gap: a text continues the one before. */
export class ReceivedMessages {
  readonly #host: MessageHost;
  #current: ReceivedMessage | undefined;
  /** Whether a part of the text is missing that the owner was asked for. */
  #isMissing = false;

  constructor(host: MessageHost) {
    this.#host = host;
  }

  get current(): Pick<ReceivedMessage, "messageId" | "text"> | undefined {
    return this.#current;
  }

  /** Takes the text of a message that began before. */
  begin(feed: string, { messageId, offset, text }: StreamedText): void {
    this.#isMissing = false;
    if (text === "" || (this.#current?.messageId !== messageId && offset > 0)) return;
    const message = this.#messageOf(feed, messageId, false);
    if (message !== undefined) this.#text(message, { type: "LlmToken", messageId, text, offset }, offset);
  }

  add(feed: string, event: MessageEvent, offset: number): void {
    const message = this.#messageOf(feed, event.messageId, true);
    if (message === undefined) return;
    if (event.type === "LlmToken") this.#text(message, event, offset);
    else if (event.type === "LlmReasoning") this.#reasoning(message, event, offset);
    else if (message.isWhole && isNext(message, event)) this.#host.emit(event);
    else message.isWhole = false;
  }

  /** The message of an event; undefined for one that another owner has begun, whose text may differ. */
  #messageOf(feed: string, messageId: string, isWhole: boolean): ReceivedMessage | undefined {
    if (this.#current?.messageId !== messageId)
      this.#current = { feed, messageId, text: "", reasoning: 0, calls: new Map(), isWhole };
    return this.#current.feed === feed ? this.#current : undefined;
  }

  #text(message: ReceivedMessage, event: Extract<MessageEvent, { type: "LlmToken" }>, offset: number): void {
    const known = message.text.length - offset;
    if (known < 0) {
      message.isWhole = false;
      if (!this.#isMissing) this.#host.ask();
      this.#isMissing = true;
      return;
    }
    const text = event.text.slice(known);
    if (text === "") return;
    const { part, ...unnumbered } = event;
    const numbered = message.isWhole && part !== undefined ? { part } : {};
    const continued = { ...unnumbered, ...numbered, text, offset: message.text.length };
    message.text += text;
    this.#host.emit(continued);
  }

  /** Shows what is new of the reasoning. After a gap, all of it comes with the record. */
  #reasoning(
    message: ReceivedMessage,
    event: Extract<MessageEvent, { type: "LlmReasoning" }>,
    offset: number,
  ): void {
    const known = message.reasoning - offset;
    if (known < 0) message.isWhole = false;
    const text = event.text.slice(Math.max(0, known));
    if (!message.isWhole || text === "") return;
    const continued = { ...event, text, offset: message.reasoning };
    message.reasoning += text.length;
    this.#host.emit(continued);
  }
}

/** Whether an event continues what was received of the calls of its message. Counts it. */
function isNext(
  message: ReceivedMessage,
  event: Exclude<MessageEvent, { type: "LlmToken" | "LlmReasoning" }>,
): boolean {
  const { calls } = message;
  switch (event.type) {
    case "LlmToolCall":
      if (event.toolCallId !== undefined) calls.set(event.toolCallId, 0);
      return true;
    case "LlmToolCallDelta": {
      const isContinued = calls.get(event.toolCallId) === event.offset;
      calls.set(event.toolCallId, event.offset + event.text.length);
      return isContinued;
    }
    case "LlmPartEnded":
      return event.toolCallId === undefined || calls.has(event.toolCallId);
  }
}
