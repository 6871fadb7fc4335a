import { hasNotRun, type AgentState, type ToolCallRecord } from "@moora/agent-core-state-machine";

/** The calls that the model has made since a session was in the state `start`, in order. One that was open then does not count. */
export const callsSince = (
  start: AgentState,
  { toolCalls }: AgentState,
): readonly AgentState["toolCalls"][string][] =>
  Object.entries(toolCalls).flatMap(([id, call]) => (start.toolCalls[id] === undefined ? [call] : []));

/** Whether the tool of a call ran: not in one that is open, was rejected or has invalid arguments. */
export const hasRun = ({ result }: ToolCallRecord): boolean => result !== null && !hasNotRun(result);
