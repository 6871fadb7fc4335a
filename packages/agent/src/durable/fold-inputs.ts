import { inputAt, type DispatchedInput } from "@moora/agent-core-effects";
import { step, type AgentInput, type AgentState, type AgentStep } from "@moora/agent-core-state-machine";
import { parseOrRefuse } from "../session/parse-or-refuse.ts";
import { PendingInput } from "../session/pending-input.ts";

/** One input, with the state before it and its transition, which has the same state if it did not apply. */
export interface FoldStep {
  readonly input: PendingInput;
  readonly before: AgentState;
  readonly after: AgentStep;
}

/** Whether an input changed the state. */
export const hasApplied = ({ before, after }: FoldStep): boolean => after.state !== before;

/**
 * The steps of inputs from a state on. A late-bound input is computed for the state before it. `check` returns an input as the session
 * may take it.
 */
export function foldInputs(
  state: AgentState,
  inputs: readonly DispatchedInput[],
  check: (input: AgentInput) => AgentInput = parseOrRefuse,
): readonly FoldStep[] {
  let before = state;
  return inputs.map((dispatched) => {
    const input = check(inputAt(dispatched, before));
    const folded = { input: new PendingInput(input), before, after: step(input)(before) };
    before = folded.after.state;
    return folded;
  });
}
