import type { AgentMessage, AgentState } from "@moora/agent-core-state-machine";
import { messagesOf } from "@moora/agent-core-state-machine/internal";
import { checkIsState } from "./check-arguments.ts";

/**
 * The result text of a finished loop: its answer, or the last text of the model if it ended in another state than Done.
 * Throws `BuildError` for an invalid state.
 */
export function answerTextAt(state: AgentState): string {
  checkIsState(state);
  const { control } = state.reActContext;
  return control.type === "Done" ? control.answer : (messagesOf(state).findLast(isAnswer)?.content ?? "");
}

/** Whether a message can be the answer: dropped and withheld ones are not. */
const isAnswer = ({ role, status }: AgentMessage): boolean =>
  role === "assistant" && status !== "dropped" && status !== "withheld";
