import type { AgentEvent, Question, SubAgentEvent } from "@moora/agent";
import { questionKey, type ChunkEvent } from "@moora/agent-webui-protocol";
import type { AnswerDraft } from "../live/answer-draft.ts";
import type { LiveLink } from "../live/live-link.ts";

/** Makes the chunks of a stream from the events of a session. */
export class ChunkMaker {
  readonly #stream: () => Pick<LiveLink, "streaming" | "draft">;
  /** How much of the text of a message the stream has. */
  #text = { messageId: "", length: 0 };
  /** The questions of sub-agents that the stream has shown, by their paths. */
  readonly #asked = new Set<string>();

  constructor(stream: () => Pick<LiveLink, "streaming" | "draft">) {
    this.#stream = stream;
  }

  /** What the model has written so far of its answer. */
  begin(): readonly ChunkEvent[] {
    const { draft } = this.#stream();
    const chunks = draft === undefined ? [] : draftChunks(draft);
    this.#text = { messageId: draft?.messageId ?? "", length: 0 };
    for (const chunk of chunks) if (chunk.type === "text") this.#text.length += chunk.text.length;
    const missed = this.#missedText();
    return missed === undefined ? chunks : [...chunks, missed];
  }

  /** The chunk of an event; undefined for an event that a record of the log shows. */
  chunkOf(event: AgentEvent<unknown>): ChunkEvent | undefined {
    switch (event.type) {
      case "LlmToken":
        return this.#textOf(event);
      case "LlmReasoning":
        return { ...event, type: "reasoning" };
      case "LlmToolCall":
        return { ...event, type: "tool-call" };
      case "LlmToolCallDelta":
        return { ...event, type: "tool-call-delta" };
      case "LlmPartEnded":
        return { ...event, type: "part-end" };
      case "ToolCallProgress":
        return { type: "tool-progress", toolCallId: event.toolCallId, text: event.text };
      case "LlmWarning":
        return { type: "warning", text: event.text };
      case "SubAgentEvent":
        return this.#ofSubAgent(event);
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

  /** The chunk of a question; undefined for one of the session itself, which a record shows. */
  questionOf(question: Question): ChunkEvent | undefined {
    const chunk = questionChunk(question);
    if (chunk !== undefined) this.#asked.add(questionKey(question));
    return chunk;
  }

  #ofSubAgent({ path, event }: SubAgentEvent): ChunkEvent | undefined {
    if (event.type === "ApprovalRequested") return this.questionOf(event);
    if (event.type !== "ToolCallStarted" && event.type !== "ToolCallFinished") return undefined;
    const { toolCallId } = event;
    return this.#asked.delete(questionKey({ path, toolCallId }))
      ? { type: "question-closed", path, toolCallId }
      : undefined;
  }

  #textOf(token: Extract<AgentEvent<unknown>, { type: "LlmToken" }>): ChunkEvent {
    const { messageId, text, offset } = token;
    if (messageId !== this.#text.messageId) this.#text = { messageId, length: 0 };
    const missed = offset > this.#text.length ? this.#missedText() : undefined;
    if (missed !== undefined) return missed;
    // The reader ignores one after a gap.
    if (offset <= this.#text.length) this.#text.length = offset + text.length;
    return { ...token, type: "text" };
  }

  /** The text of the message so far, if it is longer than what the stream has: its first tokens were not seen by this server. */
  #missedText(): Extract<ChunkEvent, { type: "text" }> | undefined {
    const { streaming } = this.#stream();
    if (streaming === null) return undefined;
    const { messageId, text } = streaming;
    if (messageId === this.#text.messageId && text.length <= this.#text.length) return undefined;
    this.#text = { messageId, length: text.length };
    return { type: "text", messageId, offset: 0, text };
  }
}

/** A draft as chunks, in its order. */
function draftChunks({ messageId, parts }: AnswerDraft): ChunkEvent[] {
  const lengths = { text: 0, reasoning: 0 };
  return parts.map((part) => {
    const text = part.pieces.join("");
    if (part.kind === "call") {
      const { toolCallId, name } = part;
      return { type: "draft-call", messageId, toolCallId, name, text };
    }
    const type = part.kind === "text" ? "text" : "draft-reasoning";
    const offset = lengths[part.kind];
    lengths[part.kind] += text.length;
    return { type, messageId, ...(part.part === undefined ? {} : { part: part.part }), offset, text };
  });
}

/** The chunk of a question of a sub-agent; undefined for one of the session itself. An event has more than its question. */
function questionChunk(
  asked: Question & { readonly type?: string; readonly decide?: unknown },
): ChunkEvent | undefined {
  const { type: _type, decide: _decide, path = [], ...question } = asked;
  return path.length === 0 ? undefined : { ...question, type: "question", path };
}
