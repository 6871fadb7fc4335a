import type { StateContextOf, StateDecision, StateHandler } from "@moora/agent-core-effects";
import { optionForms, required } from "@moora/agent-core-effects/internal";
import { checkOptions, type OptionForms } from "./check-options.ts";
import type { AgentState, ControlGraph, ToolDefinition } from "@moora/agent-core-state-machine";

/** The handler of a custom state with its replay policy. */
export interface StateDefinition<Data = unknown, Context = unknown> {
  /**
   * What happens to an interrupted handler after a crash. `safe` and `keyed` run again, `keyed` with the same
   * `idempotencyKey`. `once` does not run again: the state is left by the event `HandlerInterrupted`, and without a row
   * for it the loop ends in Error. Default: `once`.
   */
  readonly replay?: ToolDefinition["replay"];
  readonly handle: HandlerOf<Data, Context>;
}

/** The handler of a custom state, with what the host gives to the session if the agent needs that. */
export type HandlerOf<Data = unknown, Context = unknown> = (
  state: AgentState,
  context: StateContextOf<Data, Context>,
) => StateDecision | Promise<StateDecision>;

/** The handlers of custom states, by name. */
export type States = Readonly<Record<string, StateHandler | StateDefinition>>;

/**
 * The handlers without their replay policies. Throws `BuildError` for a value that is neither a function nor a
 * `StateDefinition`.
 */
export const handlersOf = (states: States = {}): Readonly<Record<string, StateHandler>> =>
  Object.fromEntries(
    Object.entries(states).map(([name, state]) => {
      checkState(state, `states.${name}`);
      return [name, typeof state === "function" ? state : state.handle];
    }),
  );

const forms: OptionForms<StateDefinition> = {
  replay: "any",
  handle: required({ ...optionForms.function, expectation: "a function, (state) => event" }),
};

/** Throws `BuildError` for an invalid state: callers without types may pass any value. */
function checkState(state: unknown, place: string): void {
  if (typeof state !== "function")
    checkOptions(place, state, forms, { placeOf: (path) => `${place}.${path}` });
}

/** The control graph with the replay policies of its states. */
export function graphWith(graph: ControlGraph, states: States = {}): ControlGraph {
  const replay = Object.fromEntries(
    Object.entries(states).flatMap(([name, state]) =>
      typeof state === "function" || state.replay === undefined ? [] : [[name, state.replay]],
    ),
  );
  return Object.keys(replay).length === 0 ? graph : { ...graph, replay: { ...graph.replay, ...replay } };
}
