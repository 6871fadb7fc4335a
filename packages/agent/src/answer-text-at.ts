import type { AgentMessage, AgentState } from "@moora/agent-core-state-machine";

/**
 * The result text of a finished loop: its answer, or the last text of the model if it ended in another state than Done.
 */
export const answerTextAt = ({ messages, reActContext: { control } }: AgentState): string =>
  control.type === "Done" ? control.answer : (messages.findLast(isAnswer)?.content ?? "");

/** Whether a message can be the answer: dropped and withheld ones are not. */
const isAnswer = ({ role, status }: AgentMessage): boolean =>
  role === "assistant" && status !== "dropped" && status !== "withheld";
