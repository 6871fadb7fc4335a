import type { AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent } from "./agent-event.ts";

export type ToolCallStarted = Extract<AgentEvent<never>, { type: "ToolCallStarted" }>;

/** The calls that run according to the events so far, for listeners and iterators that begin later. */
export class StartedCalls {
  readonly #events = new Map<string, ToolCallStarted>();

  /** Follows an event: a call runs from its start to its result, or to a question about it. */
  follow(event: AgentEvent<unknown>): void {
    if (event.type === "ToolCallStarted") this.#events.set(event.toolCallId, event);
    else if (event.type === "ToolCallFinished" || event.type === "ApprovalRequested")
      this.#events.delete(event.toolCallId);
  }

  /** The `ToolCallStarted` of each call that runs, oldest first. */
  events(): readonly ToolCallStarted[] {
    return [...this.#events.values()];
  }
}

/** The `ToolCallStarted` of a call; undefined for an unknown call. */
export function startOf(state: AgentState, toolCallId: string): ToolCallStarted | undefined {
  const record = recordOf(state, toolCallId);
  return record && { type: "ToolCallStarted", toolCallId, name: record.name, parameters: record.parameters };
}

/** The `ToolCallStarted` of each call that has started in a state and has no result. */
export const startsAt = (state: AgentState): readonly ToolCallStarted[] =>
  openCallsOf(state.reActContext.control).flatMap(({ id, status }) =>
    status.type === "running" && status.started ? (startOf(state, id) ?? []) : [],
  );
