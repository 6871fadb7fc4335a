import { chunkToQuestion, type ChunkEvent, type QuestionBelow } from "@moora/agent-webui-protocol";
import { signal } from "@preact/signals";

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
