import type { AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent } from "./agent-event.ts";

export type ToolCallStarted = Extract<AgentEvent<never>, { type: "ToolCallStarted" }>;

/** The `ToolCallStarted` of a call; undefined for an unknown call. */
export function startOf(state: AgentState, toolCallId: string): ToolCallStarted | undefined {
  const record = recordOf(state, toolCallId);
  return record && { type: "ToolCallStarted", toolCallId, name: record.name, parameters: record.parameters };
}

/** The `ToolCallStarted` of each call that runs in a state, for listeners and iterators that begin there. */
export const startsAt = (state: AgentState): readonly ToolCallStarted[] =>
  openCallsOf(state.reActContext.control).flatMap(({ id, status }) =>
    status.type === "running" && status.started ? (startOf(state, id) ?? []) : [],
  );
