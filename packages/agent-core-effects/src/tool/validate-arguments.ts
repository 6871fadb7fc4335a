import { errorText } from "../error-text.ts";
import { isPromise } from "../is-promise.ts";
import { truncatedToBytes } from "../truncate.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { CheckedValue, SchemaCheck } from "./schema-check.ts";

type MaybeChecked<Input> = CheckedValue<Input> | Promise<CheckedValue<Input>>;

/**
 * Checks the arguments of calls. `checked` keeps its result for the next `taken` of the same text: a call is checked when
 * the model makes it, and mostly run right after. `taken` gives a result away once, so no two runs share an object.
 */
export function argumentsOf<Input>(schema: SchemaCheck<unknown>): {
  checked(parameters: string): MaybeChecked<Input>;
  taken(parameters: string): MaybeChecked<Input>;
} {
  let kept: { readonly parameters: string; readonly it: CheckedValue<Input> } | undefined;
  return {
    checked(parameters) {
      const it = checkedArguments<Input>(schema, parameters);
      kept = isPromise(it) ? undefined : { parameters, it };
      return it;
    },
    taken(parameters) {
      const known = kept;
      kept = undefined;
      return known?.parameters === parameters ? known.it : checkedArguments<Input>(schema, parameters);
    },
  };
}

/** Arguments that parse and fit, in the output type of the schema. A schema that throws refuses them. */
function checkedArguments<Input>(schema: SchemaCheck<unknown>, parameters: string): MaybeChecked<Input> {
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return parsed;
  try {
    // The schema's own output type names what it checked.
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
