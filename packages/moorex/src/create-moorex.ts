import type { DetailedDefinition, Moorex, MoorexDefinition } from "./definition.ts";
import { Machine } from "./machine.ts";

/**
 * Creates a machine and starts the effects that its initial state wants: applies inputs one at a time, commits them, then
 * publishes the state, and keeps the running effects equal to what the state wants. Throws what `initial` throws; no other
 * function of the definition that throws keeps the machine from running (see I6).
 */
export function createMoorex<
  State,
  Input,
  Effect,
  Detail extends undefined = undefined,
  Position = undefined,
>(
  definition: MoorexDefinition<State, Input, Effect, Position>,
): Moorex<State, Input, Effect, Detail, Position>;
export function createMoorex<State, Input, Effect, Detail = undefined, Position = undefined>(
  definition: DetailedDefinition<State, Input, Effect, Detail, Position>,
): Moorex<State, Input, Effect, Detail, Position>;
export function createMoorex<State, Input, Effect, Detail, Position>(
  definition:
    | MoorexDefinition<State, Input, Effect, Position>
    | DetailedDefinition<State, Input, Effect, Detail, Position>,
): Moorex<State, Input, Effect, undefined, Position> | Moorex<State, Input, Effect, Detail, Position> {
  return "transition" in definition
    ? new Machine(definition, (input, state) => ({
        state: definition.transition(input)(state),
        detail: undefined,
      })).start()
    : new Machine(definition, (input, state) => definition.detailedTransition(input)(state)).start();
}
