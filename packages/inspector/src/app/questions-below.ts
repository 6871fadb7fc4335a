import type { Question } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";
import { signal } from "@preact/signals";

/** A question of a sub-agent: `path` is the calls that lead to it. The records of the session do not contain it. */
export interface QuestionBelow extends Question {
  readonly path: readonly string[];
}

/** The open questions of sub-agents, as the server has reported them since the page connected. */
export const questionsBelow = signal<readonly QuestionBelow[]>([]);

/** Forgets all: the server reports those that are open at the beginning of a stream. */
export const forgetQuestionsBelow = (): void => void (questionsBelow.value = []);

/** Adds or closes a question. */
export function onQuestionChunk(chunk: Extract<ChunkEvent, { type: "question" | "question-closed" }>): void {
  const others = questionsBelow.value.filter((asked) => !isSame(asked, chunk));
  questionsBelow.value = chunk.type === "question" ? [...others, chunkToQuestion(chunk)] : others;
}

/** Closes the questions below a call that a record ends. */
export function closeQuestionsBelow(input: { readonly type: string; readonly toolCallId?: unknown }): void {
  if (questionsBelow.value.length === 0) return;
  if (input.type === "re-act-cancelled" || input.type === "session-opened") forgetQuestionsBelow();
  if (input.type !== "tool-call-completed" && input.type !== "tool-call-interrupted") return;
  questionsBelow.value = questionsBelow.value.filter(({ path }) => path[0] !== input.toolCallId);
}

type CallRef = Pick<QuestionBelow, "toolCallId" | "path">;

const isSame = (a: CallRef, b: CallRef): boolean =>
  a.toolCallId === b.toolCallId && JSON.stringify(a.path) === JSON.stringify(b.path);

const chunkToQuestion = (chunk: Extract<ChunkEvent, { type: "question" }>): QuestionBelow => {
  const { parameters = null, due = null, reminder = 0, escalated = false } = chunk;
  return { ...chunk, parameters, due, reminder, escalated };
};
