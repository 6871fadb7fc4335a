import { agentTransition, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";

/** An input, or a late-bound one: a function that computes it at its turn, for the state before it. */
export type DispatchedInput = AgentInput | ((state: AgentState) => AgentInput);

/** The input that is dispatched to this state. */
export const inputAt = (input: DispatchedInput, state: AgentState): AgentInput =>
  typeof input === "function" ? input(state) : input;

/** A state after inputs, and how many of them changed it. */
export interface AppliedInputs {
  readonly state: AgentState;
  readonly applied: number;
}

/** Applies inputs in order, for a runner of one's own. A late-bound input is computed for the state before it. Pure. */
export function applyInputs(state: AgentState, inputs: readonly DispatchedInput[]): AppliedInputs {
  let after = state;
  let applied = 0;
  for (const input of inputs) {
    const next = agentTransition(inputAt(input, after))(after);
    if (next !== after) applied += 1;
    after = next;
  }
  return { state: after, applied };
}
