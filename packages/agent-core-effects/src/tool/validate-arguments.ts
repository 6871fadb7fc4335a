import { errorText } from "../error-text.ts";
import { isPromise } from "../is-promise.ts";
import { truncatedToBytes } from "../truncate.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { CheckedValue, SchemaCheck } from "./schema-check.ts";

type MaybeChecked<Input> = CheckedValue<Input> | Promise<CheckedValue<Input>>;

/** The maximum number of cached checks: those of the calls of one turn. */
const maxCached = 256;

/**
 * Validates the arguments of calls. `checked` caches its result for the next `taken` with the same text, because a call is
 * usually run soon after its check. `taken` returns a cached result only once, so that two runs do not share an object.
 */
export function argumentsOf<Input>(schema: SchemaCheck<unknown>): {
  checked(parameters: string): MaybeChecked<Input>;
  taken(parameters: string): MaybeChecked<Input>;
} {
  const cache = new Map<string, CheckedValue<Input>>();
  return {
    checked(parameters) {
      const it = checkedArguments<Input>(schema, parameters);
      if (cache.size >= maxCached) cache.clear();
      if (!isPromise(it)) cache.set(parameters, it);
      return it;
    },
    taken(parameters) {
      const cached = cache.get(parameters);
      if (cached !== undefined) cache.delete(parameters);
      return cached ?? checkedArguments<Input>(schema, parameters);
    },
  };
}

/** Parses and checks arguments. Returns the output of the schema, or the problem; an exception of the schema is a problem. */
function checkedArguments<Input>(schema: SchemaCheck<unknown>, parameters: string): MaybeChecked<Input> {
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return parsed;
  try {
    // The schema has validated the value, which therefore has its output type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const found = schema.check(parsed.value) as MaybeChecked<Input>;
    return isPromise(found) ? found.catch(unchecked) : found;
  } catch (error) {
    return unchecked(error);
  }
}

const unchecked = (error: unknown): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem: `The arguments could not be checked: ${truncatedToBytes(errorText(error), 1_000)}`,
});
