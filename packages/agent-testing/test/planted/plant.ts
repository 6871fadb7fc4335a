import type * as core from "@moora/agent-core-state-machine";
import type * as internal from "@moora/agent-core-state-machine/internal";
import type { AgentInput, AgentState, AgentStep } from "@moora/agent-core-state-machine";

export type Core = typeof core;
type Internal = typeof internal;

/** The transition as it is without the defect. */
export type Transition = (input: AgentInput, state: AgentState) => AgentStep;

/** A defect of the reducer: what it does with an input in a state, by way of what it should do. */
export type Plant = (input: AgentInput, state: AgentState, transition: Transition) => AgentStep;

/**
 * The package of the reducer with a defect planted in it, for `vi.doMock`: every function that applies inputs has it, so
 * that live and replayed states stay equal and only the defect can be noticed.
 */
export function withPlanted(original: Core, plant: Plant): Core {
  const step: Core["step"] = (input) => (state) =>
    plant(input, state, (given, from) => original.step(given)(from));
  const agentTransition: Core["agentTransition"] = (input) => (state) => step(input)(state).state;
  return {
    ...original,
    step,
    agentTransition,
    ignoredReason: (input) => (state) =>
      agentTransition(input)(state) === state ? original.ignoredReason(input)(state) : undefined,
    replay: (inputs, from) =>
      [...inputs].reduce(
        (state, input) => agentTransition(input)(state),
        from ?? original.initialAgentState(),
      ),
    beginReplay(from = original.initialAgentState()) {
      let state = from;
      return {
        apply(input) {
          const stepped = step(input)(state);
          const isIgnored = stepped.state === state;
          state = stepped.state;
          return isIgnored ? undefined : stepped;
        },
        state: () => state,
      };
    },
  };
}

/** What hosts use of the reducer, with the same defect: it is not public. */
export const withPlantedHost = (
  original: Internal,
  plant: Plant,
  step: (input: AgentInput, state: AgentState) => AgentStep,
): Internal => ({
  ...original,
  stepOfHost: (input) => (state) => {
    const stepped = plant(input, state, step);
    return stepped.state === state ? undefined : stepped;
  },
});

/** A transition with another configuration or other tools, which the next state does not keep. */
export function transitionWith(
  changes: (state: AgentState) => Partial<Pick<AgentState, "config" | "tools">>,
): Plant {
  return (input, state, transition) => {
    const { state: after, moves, changes: made } = transition(input, { ...state, ...changes(state) });
    const { config, tools } = state;
    const isSame = JSON.stringify({ ...after, config, tools }) === JSON.stringify(state);
    return { state: isSame ? state : { ...after, config, tools }, moves, changes: made };
  };
}
