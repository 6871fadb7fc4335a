import { questionKey } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, Question, SubAgentEvent } from "../agent-event.ts";
import type { SentEvent, SentSubAgentEvent } from "./live-texts.ts";
import type { StreamedSession } from "./streamed-session.ts";

/**
 * The events of a session that servers with viewers get, each text with the offset at which it begins in its message: those that no
 * record contains. Of a message that had begun before `begin`, only what continues a known text is sent.
 */
export class SentEvents {
  readonly #session: StreamedSession;
  /** The questions of sub-agents that viewers have. */
  readonly #asked = new Set<string>();
  #messageId = "";
  #lengths = { text: 0, reasoning: 0 };
  /** The attempt that had begun when this began to listen: only its text is known from its beginning. */
  #startedAttempt: string | undefined;
  /** The attempt whose reasoning is known from its beginning, although it had begun. */
  #knownReasoning: string | undefined;

  constructor(session: StreamedSession) {
    this.#session = session;
  }

  /** Reads how far the session has streamed. From here on, `sentOf` must be called with each of its events. */
  begin(): void {
    const streaming = this.#session.streaming();
    const reasoning = this.#session.reasoning();
    this.#messageId = reasoning?.messageId ?? streaming?.messageId ?? "";
    this.#lengths = {
      text: streaming?.text.length ?? 0,
      reasoning: (reasoning?.parts ?? []).reduce((sum, { text }) => sum + text.length, 0),
    };
    this.#knownReasoning = reasoning?.messageId;
    this.#startedAttempt = this.#session.startedMessage();
  }

  /** Adds a question that viewers have got by itself, so that they get its end. */
  ask(question: Pick<Question, "path" | "toolCallId">): void {
    this.#asked.add(questionKey(question));
  }

  clear(): void {
    this.#asked.clear();
  }

  /** The event as servers with viewers get it; undefined for one that they do not get. */
  sentOf(event: AgentEvent<unknown>): SentEvent | undefined {
    switch (event.type) {
      case "LlmToken": {
        const offset = this.#textOffset(event);
        return offset === undefined ? undefined : { event, offset };
      }
      case "LlmReasoning":
        return this.#isWhole(event) || event.messageId === this.#knownReasoning
          ? { event, offset: this.#count(event, "reasoning") }
          : undefined;
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
    const streaming = this.#session.streaming();
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
}
