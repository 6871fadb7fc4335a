import type { ChunkEvent } from "./chunk-event.ts";

type QuestionChunk = Extract<ChunkEvent, { type: "question" }>;

type Reason = NonNullable<QuestionChunk["reason"]>;

/** A question of a sub-agent in the form of a session's questions. `path` is the calls that lead to it. */
export interface SubAgentQuestion {
  readonly path: readonly string[];
  readonly toolCallId: string;
  readonly digest: string;
  readonly about: QuestionChunk["about"];
  readonly name: string;
  readonly parameters: unknown;
  readonly question?: string;
  /** The JSON text of the JSON Schema of the answer; absent if every answer is accepted, and from a server that does not send it. */
  readonly answerSchema?: string;
  readonly risk?: NonNullable<QuestionChunk["risk"]>;
  readonly reason: Reason;
  readonly due: number | null;
  readonly reminder: number;
  readonly escalated: boolean;
}

/** The reasons of questions of a server that does not send them. */
const reasonOf: Readonly<Record<QuestionChunk["about"], Reason>> = {
  approval: "policy",
  answer: "question",
  outcome: "interrupted",
};

/** The question of a chunk. What a server of an earlier release does not send has a default. */
export function chunkToQuestion(chunk: QuestionChunk): SubAgentQuestion {
  const { type: _, ...sent } = chunk;
  const reason = reasonOf[chunk.about];
  return { reason, parameters: null, due: null, reminder: 0, escalated: false, ...sent };
}

/** The key of a question among those of a session and its sub-agents: equal for chunks and questions about the same call. */
export const questionKey = ({
  path = [],
  toolCallId,
}: {
  readonly path?: readonly string[];
  readonly toolCallId: string;
}): string => JSON.stringify([...path, toolCallId]);
