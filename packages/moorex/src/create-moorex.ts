import type { DetailedDefinition, Moorex, MoorexDefinition } from "./definition.ts";
import { Machine } from "./machine.ts";

/**
 * Creates a machine and starts the effects of its initial state. The machine applies inputs one at a time, commits them,
 * publishes the state, and keeps the running effects equal to those that the state wants. Throws what `initial` throws, and
 * `TypeError` for a field that a definition does not have; an exception of any other function of the definition does not stop the machine (see I6).
 */
export function createMoorex<
  State,
  Input,
  Effect,
  Detail extends undefined = undefined,
  Position = undefined,
>(
  definition: MoorexDefinition<State, Input, Effect, Detail, Position>,
): Moorex<State, Input, Effect, Detail, Position>;
/** Creates a machine whose transition returns a detail with the next state. In all else like the other overload. */
export function createMoorex<State, Input, Effect, Detail = undefined, Position = undefined>(
  definition: DetailedDefinition<State, Input, Effect, Detail, Position>,
): Moorex<State, Input, Effect, Detail, Position>;
export function createMoorex<State, Input, Effect, Detail, Position>(
  definition:
    | MoorexDefinition<State, Input, Effect, undefined, Position>
    | DetailedDefinition<State, Input, Effect, Detail, Position>,
): Moorex<State, Input, Effect, undefined, Position> | Moorex<State, Input, Effect, Detail, Position> {
  checkNames(definition);
  return "transition" in definition
    ? new Machine(definition, (input, state) => ({
        state: definition.transition(input)(state),
        detail: undefined,
      })).start()
    : new Machine(definition, (input, state) => definition.detailedTransition(input)(state)).start();
}

const names: readonly string[] =
  "initial transition detailedTransition effectsAt isWanted intentOf runEffect defer commit isBackground onNotice".split(
    " ",
  );

/** Throws `TypeError` for a field that a definition does not have: a misspelled `commit` would store nothing. */
function checkNames(definition: object): void {
  const unknown = Object.keys(definition).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`Unknown field "${unknown}" of createMoorex. Known fields: ${names.join(", ")}.`);
}
