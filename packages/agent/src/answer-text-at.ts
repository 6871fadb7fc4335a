import type { AgentMessage, AgentState } from "@moora/agent-core-state-machine";

/** The text that a finished loop came to: its answer, or what the model said last where it ended in another state. */
export const answerTextAt = ({ messages, reActContext: { control } }: AgentState): string =>
  control.type === "Done" ? control.answer : (messages.findLast(isAnswer)?.content ?? "");

/** What was dropped or withheld is no answer. */
const isAnswer = ({ role, status }: AgentMessage): boolean =>
  role === "assistant" && status !== "dropped" && status !== "withheld";
