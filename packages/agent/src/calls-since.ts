import type { AgentState } from "@moora/agent-core-state-machine";

/** The calls that the model has made since a session was in the state `start`, in order. One that was open then does not count. */
export const callsSince = (
  start: AgentState,
  { toolCalls }: AgentState,
): readonly AgentState["toolCalls"][string][] =>
  Object.entries(toolCalls).flatMap(([id, call]) => (start.toolCalls[id] === undefined ? [call] : []));
