import type { ChunkEvent } from "./chunk-event.ts";
import type { Progress } from "./piece.ts";

const isStreamed: Readonly<Record<Progress["type"], true>> = {
  LlmToken: true,
  LlmReasoning: true,
  LlmToolCall: true,
  LlmToolCallDelta: true,
  LlmPartEnded: true,
  LlmWarning: true,
  ToolCallProgress: true,
};

/** Whether an event of a session is what an effect streams, which no record has. */
export const isProgress = (event: { readonly type: string }): event is Progress =>
  Object.hasOwn(isStreamed, event.type);

/** The chunk of what an effect streams. */
export function progressToChunk(progress: Progress): ChunkEvent {
  switch (progress.type) {
    case "LlmToken":
      return { ...progress, type: "text" };
    case "LlmReasoning":
      return { ...progress, type: "reasoning" };
    case "LlmToolCall":
      return { ...progress, type: "tool-call" };
    case "LlmToolCallDelta":
      return { ...progress, type: "tool-call-delta" };
    case "LlmPartEnded":
      return { ...progress, type: "part-end" };
    case "ToolCallProgress":
      return { ...progress, type: "tool-progress" };
    case "LlmWarning":
      return { ...progress, type: "warning" };
  }
}

/** What an effect has streamed, of its chunk; undefined for a question, and for a chunk of a later release. */
export function chunkToProgress(chunk: ChunkEvent): Progress | undefined {
  switch (chunk.type) {
    case "text":
      return { ...chunk, type: "LlmToken" };
    case "reasoning":
      return { ...chunk, type: "LlmReasoning" };
    case "tool-call":
      return { ...chunk, type: "LlmToolCall" };
    case "tool-call-delta":
      return { ...chunk, type: "LlmToolCallDelta" };
    case "part-end":
      return { ...chunk, type: "LlmPartEnded" };
    case "tool-progress":
      return { ...chunk, type: "ToolCallProgress" };
    case "warning":
      return { ...chunk, type: "LlmWarning" };
    case "question":
    case "question-closed":
      return undefined;
  }
  // A chunk of a later release.
  return undefined;
}
