import type { AgentState } from "@moora/agent-core-state-machine";

/** The text that a finished loop came to: its answer, or what the model said last where it ended in another state. */
export const answerTextAt = ({ messages, reActContext: { control } }: AgentState): string =>
  control.type === "Done"
    ? control.answer
    : (messages.findLast((message) => message.role === "assistant")?.content ?? "");
