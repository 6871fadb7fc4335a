import type { HandlerDecision, StateContextOf, StateHandler } from "@moora/agent-core-effects";
import { after, optionForms, refuse, required } from "@moora/agent-core-effects/internal";
import { checkOptions, type OptionForms } from "./check-options.ts";
import {
  controlEdges,
  type AgentState,
  type ControlGraph,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import { builtInStates } from "@moora/agent-core-state-machine/internal";
import { checkName } from "./check-name.ts";

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
) => HandlerDecision | Promise<HandlerDecision>;

/**
 * Code around a built-in state: `before` runs when an event leads to the state, `after` when one leads out of it. Each is the handler
 * of a custom state of its own, such as `BeforeActing`, between the rows of the built-in one. It returns nothing, and the event continues;
 * or an event: `after` any that leads out of the state, `before` also one that leads to it. With the former, the state itself is
 * passed over. It does not run where an event leads to Error, and not at a retry of a model call.
 */
export interface StateWrapper<Data = unknown, Context = unknown> extends Pick<StateDefinition, "replay"> {
  readonly before?: WrapperHandler<Data, Context>;
  readonly after?: WrapperHandler<Data, Context>;
}

type WrapperHandler<Data, Context> = (
  ...given: Parameters<HandlerOf<Data, Context>>
) => HandlerDecision | undefined | Promise<HandlerDecision | undefined>;

/** What `states` has for a name: the handler of a custom state, or the code around a built-in one. */
export type StateCode<Data = unknown, Context = unknown> =
  | HandlerOf<Data, Context>
  | StateDefinition<Data, Context>
  | StateWrapper<Data, Context>;

type CustomStates = Readonly<Record<string, StateHandler | StateDefinition>>;

/** The handlers of custom states and the code around built-in ones, by name. */
export type States = Readonly<Record<string, StateCode>>;

const wrapperForms: OptionForms<StateWrapper> = { before: "function", after: "function", replay: "any" };

/** The states without wrappers: each has become custom states of the graph. Throws `BuildError` for an invalid wrapper. */
export function withWrappers(
  graph: ControlGraph,
  states: States = {},
): { readonly graph: ControlGraph; readonly states: CustomStates } {
  const custom: Record<string, StateHandler | StateDefinition> = {};
  let wrapped = graph;
  for (const [name, state] of Object.entries(states)) {
    if (!isWrapper(name, state)) {
      checkName(name, [...graph.states, ...wrappedStates], `states.${name}`, "a state of config.graph");
      custom[name] = state;
      continue;
    }
    if (typeof state === "function" || "handle" in state)
      refuse(`The state ${name} is built in. Give it { before, after }, which run around it.`);
    checkOptions(`states.${name}`, state, wrapperForms, { placeOf: (path) => `states.${name}.${path}` });
    // The first one to be placed is next to the state: what passes over it in `before` still goes through `after`.
    for (const side of ["after", "before"] as const) {
      const handle = state[side];
      if (handle === undefined) continue;
      const added = `${side === "after" ? "After" : "Before"}${name}`;
      wrapped = placed(wrapped, { name, side, added });
      custom[added] = {
        ...(state.replay === undefined ? {} : { replay: state.replay }),
        handle: (at, context) => after(handle(at, context), (decision) => decision ?? context.event),
      };
    }
  }
  return { graph: wrapped, states: custom };
}

/** A graph with a custom state at one side of a built-in one. */
function placed(
  graph: ControlGraph,
  { name, side, added }: { readonly name: string; readonly side: "before" | "after"; readonly added: string },
): ControlGraph {
  const rows = { ...graph.rows };
  for (const { from, event, to } of controlEdges(graph)) {
    const isCrossed = side === "before" ? to === name : from === name;
    if (to === "Error" || event === "LlmRetry" || (!isCrossed && from !== name)) continue;
    if (isCrossed) rows[from] = { ...rows[from], [event]: added };
    rows[added] = { ...rows[added], [event]: to };
  }
  return { ...graph, states: [...graph.states, added], rows };
}

/** The built-in states that `states` may have code for. */
const wrappedStates: readonly string[] = builtInStates.filter((name) => name !== "Idle" && name !== "Error");

const isWrapper = (name: string, _state: StateCode): _state is StateWrapper => wrappedStates.includes(name);

/**
 * The handlers without their replay policies. Throws `BuildError` for a value that is neither a function nor a
 * `StateDefinition`.
 */
export const handlersOf = (states: CustomStates): Readonly<Record<string, StateHandler>> =>
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
export function graphWith(graph: ControlGraph, states: CustomStates): ControlGraph {
  const replay = Object.fromEntries(
    Object.entries(states).flatMap(([name, state]) =>
      typeof state === "function" || state.replay === undefined ? [] : [[name, state.replay]],
    ),
  );
  return Object.keys(replay).length === 0 ? graph : { ...graph, replay: { ...graph.replay, ...replay } };
}
