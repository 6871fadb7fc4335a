import type { AgentEvent, SessionView } from "@moora/agent";
import type { ChatMessage, ChatPart } from "./chat.ts";
import { StreamedParts } from "./streamed-parts.ts";

/** The beginning of the ids of turns without text, which have no message in the state. */
export const turnPrefix = "turn_";

/** What a model and tools stream: no record has it. */
export class Streamed {
  /** Incremented by each change. */
  version = 0;
  /** The attempt that streams. */
  messageId = "";
  readonly #streaming: () => SessionView["streaming"];
  #parts = new StreamedParts();
  readonly #progress = new Map<string, string>();

  /** `streaming` returns the text that the session has of the message that is being streamed. */
  constructor(streaming: () => SessionView["streaming"]) {
    this.#streaming = streaming;
    const known = streaming();
    if (known !== null) this.#begin(known.messageId);
  }

  /** Takes an event of a session. Returns whether it changed something. */
  add(event: AgentEvent<unknown>): boolean {
    const isAdded = this.#take(event);
    if (isAdded) this.version += 1;
    return isAdded;
  }

  /** Whether the model has begun to write something else than text. */
  get hasDrafts(): boolean {
    return this.#parts.hasDrafts;
  }

  /** A message with what is streamed. The same object if that is nothing. */
  with(message: ChatMessage): ChatMessage {
    const isOwn = message.id === this.messageId || message.id.startsWith(turnPrefix);
    const added = message.streaming && isOwn ? this.#parts.parts : [];
    const parts = message.parts.map((part) => this.#withProgress(part));
    const isSame = added.length === 0 && parts.every((part, index) => part === message.parts[index]);
    return isSame ? message : { ...message, parts: [...parts, ...added] };
  }

  #withProgress(part: ChatPart): ChatPart {
    if (part.type !== "tool-call" || part.result !== null) return part;
    const progress = this.#progress.get(part.toolCallId);
    return progress === undefined ? part : { ...part, progress };
  }

  #take(event: AgentEvent<unknown>): boolean {
    switch (event.type) {
      case "LlmToken":
        this.#begin(event.messageId, event.text);
        this.#parts.addText(event);
        this.#complete();
        return true;
      case "LlmReasoning":
        this.#begin(event.messageId);
        return this.#parts.addReasoning(event);
      case "LlmToolCall":
        this.#begin(event.messageId);
        if (event.toolCallId !== undefined) this.#parts.beginCall(event.toolCallId, event.name);
        return event.toolCallId !== undefined;
      case "LlmToolCallDelta":
        this.#parts.addArguments(event.toolCallId, event.offset, event.text);
        return true;
      case "ToolCallProgress":
        this.#progress.set(event.toolCallId, event.text);
        return true;
      case "ToolCallFinished":
        return this.#progress.delete(event.toolCallId);
      case "ApprovalRequested":
      case "DataChanged":
      case "Error":
      case "FinalAnswer":
      case "HandedOff":
      case "LlmAttemptEnded":
      case "LlmPartEnded":
      case "LlmRetryScheduled":
      case "LlmWarning":
      case "Paused":
      case "Resumed":
      case "StateStarted":
      case "SubAgentEvent":
      case "ToolCallRetryScheduled":
      case "ToolCallStarted":
        return false;
    }
  }

  /** Begins an attempt, with its text so far but for `added`, a piece that follows. */
  #begin(messageId: string, added = ""): void {
    if (messageId === this.messageId) return;
    this.messageId = messageId;
    this.#parts = new StreamedParts();
    this.#complete(added.length);
  }

  /** Adds the text that was not seen: a page may begin to listen in the middle of an answer. */
  #complete(added = 0): void {
    const streaming = this.#streaming();
    if (streaming?.messageId !== this.messageId) return;
    this.#parts.complete(streaming.text.slice(0, streaming.text.length - added));
  }
}
