import type { ChunkEvent } from "./chunk-event.ts";

type QuestionChunk = Extract<ChunkEvent, { type: "question" }>;

/** A question of a sub-agent in the form of a session's questions. `path` is the calls that lead to it. */
export type SubAgentQuestion = Omit<QuestionChunk, "type">;

/** The question of a chunk. */
export function chunkToQuestion(chunk: QuestionChunk): SubAgentQuestion {
  const { type: _, ...question } = chunk;
  return question;
}

/** The key of a question among those of a session and its sub-agents: equal for chunks and questions about the same call. */
export const questionKey = ({
  path = [],
  toolCallId,
}: {
  readonly path?: readonly string[];
  readonly toolCallId: string;
}): string => JSON.stringify([...path, toolCallId]);
