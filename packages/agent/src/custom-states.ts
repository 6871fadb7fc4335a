import type { StateHandler } from "@moora/agent-core-effects";
import { didYouMean, refuse, shownValue } from "@moora/agent-core-effects/internal";
import type { ControlGraph, ToolDefinition } from "@moora/agent-core-state-machine";

/** A custom state's handler with what may happen to it after a crash. */
export interface StateDefinition {
  /**
   * `safe` and `keyed` run again after a crash, `keyed` because it passes its `idempotencyKey` on; `once` never does: the
   * event `HandlerInterrupted` leaves the state, and without a row for it the loop ends in Error. Default: `once`.
   */
  readonly replay?: ToolDefinition["replay"];
  readonly handle: StateHandler;
}

/** The handlers of custom states, by name. */
export type States = Readonly<Record<string, StateHandler | StateDefinition>>;

/** The handlers alone. Throws `BuildError` for what is neither a function nor a definition. */
export const handlersOf = (states: States = {}): Readonly<Record<string, StateHandler>> =>
  Object.fromEntries(
    Object.entries(states).map(([name, state]) => {
      checkState(state, `states.${name}`);
      return [name, typeof state === "function" ? state : state.handle];
    }),
  );

const known = ["replay", "handle"];

/** Hosts without types may give anything. */
function checkState(state: unknown, place: string): void {
  if (typeof state === "function") return;
  if (typeof state !== "object" || state === null)
    return refuse(`${place} must be a function or { replay, handle }, got ${shownValue(state)}.`);
  for (const name of Object.keys(state))
    if (!known.includes(name)) refuse(`${place}.${name}: unknown field.${didYouMean(name, known)}`);
  if (!("handle" in state) || typeof state.handle !== "function")
    refuse(`${place} has no handler. Add handle: (state) => event.`);
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
