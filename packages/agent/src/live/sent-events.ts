import { questionKey } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, Question, SubAgentEvent } from "../agent-event.ts";
import type { SentEvent, SentSubAgentEvent } from "./live-texts.ts";
import type { StreamedSession } from "./streamed-session.ts";

/**
 * The events of a session that servers with viewers get, each text with the offset at which it begins in its message: those that no
 * record contains. Of a message that had begun before `begin`, only text and reasoning are sent: a server that misses a part before
 * ignores them.
 */
export class SentEvents {
  readonly #session: StreamedSession;
  /** The questions of sub-agents that viewers have. */
  readonly #asked = new Set<string>();
  /** The attempt that had begun when this began to listen: its calls are not known from their beginning. */
  #startedAttempt: string | undefined;

  constructor(session: StreamedSession) {
    this.#session = session;
  }

  /** Reads which answer the session is streaming. From here on, `sentOf` must be called with each of its events. */
  begin(): void {
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
}
