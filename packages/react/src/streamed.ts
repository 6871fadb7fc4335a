import type { AgentEvent } from "@moora/agent";
import type { ChatMessage, ChatPart, ToolCallPart } from "./chat.ts";

/** The beginning of the ids of turns without text, which have no message in the state. */
export const turnPrefix = "turn_";

/** What a model and tools stream: no record has it. */
export class Streamed {
  /** Incremented by each change. */
  version = 0;
  /** The attempt that streams. */
  messageId = "";
  #reasoning = "";
  #drafts: readonly ToolCallPart[] = [];
  readonly #progress = new Map<string, string>();

  /** Takes an event of a session. Returns whether it changed something. */
  add(event: AgentEvent<unknown>): boolean {
    const isAdded = this.#take(event);
    if (isAdded) this.version += 1;
    return isAdded;
  }

  /** Whether the model has begun to write something else than text. */
  get hasDrafts(): boolean {
    return this.#reasoning !== "" || this.#drafts.length > 0;
  }

  /** A message with what is streamed. The same object if that is nothing. */
  with(message: ChatMessage, text: string | undefined): ChatMessage {
    const isOwn = message.id === this.messageId || message.id.startsWith(turnPrefix);
    const added = message.streaming ? this.#parts(text, isOwn) : [];
    const parts = message.parts.map((part) => this.#withProgress(part));
    const isSame = added.length === 0 && parts.every((part, index) => part === message.parts[index]);
    return isSame ? message : { ...message, parts: [...parts, ...added] };
  }

  /** `isOwn`: the message is the attempt that streams here, and not one before. */
  #parts(text: string | undefined, isOwn: boolean): readonly ChatPart[] {
    return [
      ...(isOwn && this.#reasoning !== "" ? [{ type: "reasoning", text: this.#reasoning } as const] : []),
      ...(text === undefined || text === "" ? [] : [{ type: "text", text } as const]),
      ...(isOwn ? this.#drafts : []),
    ];
  }

  #withProgress(part: ChatPart): ChatPart {
    if (part.type !== "tool-call" || part.result !== null) return part;
    const progress = this.#progress.get(part.toolCallId);
    return progress === undefined ? part : { ...part, progress };
  }

  #take(event: AgentEvent<unknown>): boolean {
    switch (event.type) {
      case "LlmToken":
        this.#begin(event.messageId);
        return true;
      case "LlmReasoning":
        this.#begin(event.messageId);
        this.#reasoning += event.text;
        return true;
      case "LlmToolCall":
        return this.#beginDraft(event);
      case "LlmToolCallDelta":
        this.#drafts = this.#drafts.map((draft) =>
          draft.toolCallId === event.toolCallId
            ? { ...draft, parameters: draft.parameters.slice(0, event.offset) + event.text }
            : draft,
        );
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

  #begin(messageId: string): void {
    if (messageId === this.messageId) return;
    this.messageId = messageId;
    this.#reasoning = "";
    this.#drafts = [];
  }

  #beginDraft({ messageId, toolCallId, name }: Extract<AgentEvent, { type: "LlmToolCall" }>): boolean {
    this.#begin(messageId);
    if (toolCallId === undefined) return false;
    const draft = {
      type: "tool-call",
      toolCallId,
      name,
      status: "drafting",
      parameters: "",
      input: undefined,
      result: null,
      output: undefined,
    } as const;
    this.#drafts = [...this.#drafts, draft];
    return true;
  }
}
