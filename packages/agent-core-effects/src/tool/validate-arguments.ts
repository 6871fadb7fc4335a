import type { JsonObject } from "@moora/llm";
import { errorText } from "../error-text.ts";
import { after, isPromise } from "../is-promise.ts";
import { truncatedToBytes } from "../truncate.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { CheckedValue, SchemaCheck } from "./schema-check.ts";

/** Converts arguments of an earlier release. */
type Upcast = (former: JsonObject) => JsonObject;

type MaybeChecked<Input> = CheckedValue<Input> | Promise<CheckedValue<Input>>;

/** The maximum number of cached checks: those of the calls of one turn. */
const maxCached = 256;

/**
 * Validates the arguments of calls. `checked` is for new ones, of a model or of a reviewer: they must fit the schema as it is. `taken` is
 * for recorded ones, which run: those of an earlier release are converted by `upcast`. `checked` caches what fits for the next `taken` with the
 * same text, because a call is usually run soon after its check. `taken` returns a cached result only once, so that two runs do not
 * share an object.
 */
export function argumentsOf<Input>(
  schema: SchemaCheck<unknown>,
  upcast?: Upcast,
): {
  checked(parameters: string): MaybeChecked<Input>;
  taken(parameters: string): MaybeChecked<Input>;
} {
  const cache = new Map<string, CheckedValue<Input>>();
  return {
    checked(parameters) {
      const it = checkedArguments<Input>(schema, parameters);
      if (cache.size >= maxCached) cache.clear();
      if (!isPromise(it) && it.ok) cache.set(parameters, it);
      return it;
    },
    taken(parameters) {
      const cached = cache.get(parameters);
      if (cached !== undefined) cache.delete(parameters);
      return cached ?? checkedArguments<Input>(schema, parameters, upcast);
    },
  };
}

/** Parses and checks arguments, and those that do not fit once more after `upcast`. Returns the output of the schema, or the problem. */
function checkedArguments<Input>(
  schema: SchemaCheck<unknown>,
  parameters: string,
  upcast?: Upcast,
): MaybeChecked<Input> {
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return parsed;
  const found = checkedValue<Input>(schema, parsed.value);
  if (upcast === undefined) return found;
  return after(found, (it) => (it.ok ? it : upcastValue<Input>(schema, parameters, upcast, it)));
}

/** The value of converted arguments; the problem of the given ones if they cannot be converted. */
function upcastValue<Input>(
  schema: SchemaCheck<unknown>,
  parameters: string,
  upcast: Upcast,
  problem: CheckedValue<Input>,
): MaybeChecked<Input> {
  // Parsed once more: the check of a schema may have changed its value.
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return parsed;
  let converted: unknown;
  try {
    converted = upcast(parsed.value);
  } catch {
    return problem;
  }
  return after(checkedValue<Input>(schema, converted), (it) => (it.ok ? it : problem));
}

/** Checks a value; an exception of the schema is a problem. */
function checkedValue<Input>(schema: SchemaCheck<unknown>, value: unknown): MaybeChecked<Input> {
  try {
    // The schema has validated the value, which therefore has its output type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const found = schema.check(value) as MaybeChecked<Input>;
    return isPromise(found) ? found.catch(unchecked) : found;
  } catch (error) {
    return unchecked(error);
  }
}

const unchecked = (error: unknown): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem: `The arguments could not be checked: ${truncatedToBytes(errorText(error), 1_000)}`,
});
