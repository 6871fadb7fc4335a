import type { AgentEvent, SessionView } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";

/** Makes the chunks of a stream from the events of a session. It counts where the text of a message begins. */
export class ChunkMaker {
  #messageId = "";
  #length = 0;

  /** The text that has been streamed so far, as one chunk. */
  begin(streaming: SessionView["streaming"]): ChunkEvent | undefined {
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
        return { type: "reasoning", messageId: event.messageId, text: event.text };
      case "LlmToolCall":
        return { type: "tool-call", messageId: event.messageId, name: event.name };
      case "ToolCallProgress":
        return { type: "tool-progress", toolCallId: event.toolCallId, text: event.text };
      case "LlmWarning":
        return { type: "warning", text: event.text };
      case "StateStarted":
      case "DataChanged":
      case "LlmRetryScheduled":
      case "LlmAttemptEnded":
      case "ToolCallStarted":
      case "ToolCallFinished":
      case "ToolCallRetryScheduled":
      case "HandedOff":
      case "SubAgentEvent":
      case "ApprovalRequested":
      case "FinalAnswer":
      case "Error":
        return undefined;
    }
  }

  #text({ messageId, text }: { readonly messageId: string; readonly text: string }): ChunkEvent {
    const offset = messageId === this.#messageId ? this.#length : 0;
    this.#messageId = messageId;
    this.#length = offset + text.length;
    return { type: "text", messageId, offset, text };
  }
}
