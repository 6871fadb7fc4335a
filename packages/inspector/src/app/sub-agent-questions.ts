import {
  chunkToQuestion,
  questionKey,
  type ChunkEvent,
  type SubAgentQuestion,
} from "@moora/agent-webui-protocol";
import { signal } from "@preact/signals";
import { worker } from "./store.ts";

/** The open questions of sub-agents, as the server has reported them since the page connected. */
export const subAgentQuestions = signal<readonly SubAgentQuestion[]>([]);

/** Forgets all: the server reports those that are open at the beginning of a stream. */
export const forgetSubAgentQuestions = (): void => void (subAgentQuestions.value = []);

/** Adds or closes a question. */
export function onQuestionChunk(chunk: Extract<ChunkEvent, { type: "question" | "question-closed" }>): void {
  const key = questionKey(chunk);
  const others = subAgentQuestions.value.filter((open) => questionKey(open) !== key);
  subAgentQuestions.value = chunk.type === "question" ? [...others, chunkToQuestion(chunk)] : others;
}

/** Closes the questions whose call of the session has ended, whatever record has ended it. */
export async function closeEndedQuestions(): Promise<void> {
  const calls = new Set(subAgentQuestions.value.map(({ path: [toolCallId = ""] }) => toolCallId));
  if (calls.size === 0) return;
  const open = new Set(await worker.call("openCalls", [...calls]));
  subAgentQuestions.value = subAgentQuestions.value.filter(({ path: [id = ""] }) => open.has(id));
}
