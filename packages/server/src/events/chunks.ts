import type { AgentEvent, Question, SessionView, SubAgentEvent } from "@moora/agent";
import { questionKey, type ChunkEvent } from "@moora/agent-webui-protocol";

/** Makes the chunks of a stream from the events of a session. It counts where the text of a message begins. */
export class ChunkMaker {
  readonly #streaming: () => SessionView["streaming"];
  #messageId = "";
  #length = 0;
  /** The questions of sub-agents that the stream has shown, by their paths. */
  readonly #asked = new Set<string>();

  /** `streaming` returns the text that has been streamed so far: null until the record of the message's beginning is in the session. */
  constructor(streaming: () => SessionView["streaming"]) {
    this.#streaming = streaming;
  }

  /** The text that has been streamed so far, as one chunk. */
  begin(): ChunkEvent | undefined {
    const streaming = this.#streaming();
    this.#messageId = streaming?.messageId ?? "";
    this.#length = streaming?.text.length ?? 0;
    return streaming === null ? undefined : { type: "text", offset: 0, ...streaming };
  }

  /** The chunk of an event; undefined for an event that a record of the log shows. */
  chunkOf(event: AgentEvent<unknown>): ChunkEvent | undefined {
    switch (event.type) {
      case "LlmToken":
        return this.#text(event);
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

  #text(token: Extract<AgentEvent<unknown>, { type: "LlmToken" }>): ChunkEvent {
    const { messageId, text } = token;
    const offset = messageId === this.#messageId ? this.#length : 0;
    const streaming = this.#streaming();
    // Tokens were missed: the stream began between the first of them and the record of the message.
    if (streaming?.messageId === messageId && streaming.text.length !== offset + text.length)
      return this.begin() ?? { ...token, type: "text", offset };
    this.#messageId = messageId;
    this.#length = offset + text.length;
    return { ...token, type: "text", offset };
  }
}

/** The chunk of a question of a sub-agent; undefined for one of the session itself. */
const questionChunk = ({
  path = [],
  toolCallId,
  digest,
  about,
  name,
  parameters,
  question,
  answerSchema,
  risk,
  reason,
  due,
  reminder,
  escalated,
}: Question): ChunkEvent | undefined =>
  path.length === 0
    ? undefined
    : {
        type: "question",
        path,
        toolCallId,
        digest,
        about,
        name,
        parameters,
        reason,
        due,
        reminder,
        escalated,
        ...(question === undefined ? {} : { question }),
        ...(answerSchema === undefined ? {} : { answerSchema }),
        ...(risk === undefined ? {} : { risk }),
      };
