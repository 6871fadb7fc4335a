import type { AgentMessage, AgentState } from "@moora/agent-core-state-machine";

/** The text of a finished loop: its answer, or the last text of the model where it ended in another state. */
export const answerTextAt = ({ messages, reActContext: { control } }: AgentState): string =>
  control.type === "Done" ? control.answer : (messages.findLast(isAnswer)?.content ?? "");

/** What was dropped or withheld is not an answer. */
const isAnswer = ({ role, status }: AgentMessage): boolean =>
  role === "assistant" && status !== "dropped" && status !== "withheld";
