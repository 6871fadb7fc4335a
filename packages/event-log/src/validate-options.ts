import { LogError } from "./log-error.ts";
import { nearestName } from "./nearest-name.ts";
import { valueToText } from "./validation.ts";

/** What the value of an option must be, as in `notify must be true or false`, and whether a value is. */
export interface OptionForm {
  readonly expectation: string;
  readonly fits: (value: unknown) => boolean;
}

/** The form of each option: a missing one does not compile. */
export type OptionForms<Options> = Readonly<Record<keyof Options, OptionForm>>;

/** The longest time of a timer, and of a limit of PostgreSQL. */
const maxMilliseconds = 2 ** 31 - 1;

/** The forms of the options of logs. All of them also accept undefined. */
export const optionForms: Readonly<
  Record<"string" | "boolean" | "function" | "object" | "milliseconds" | "durability", OptionForm>
> = {
  string: { expectation: "a string", fits: (value) => typeof value === "string" },
  boolean: { expectation: "true or false", fits: (value) => typeof value === "boolean" },
  function: { expectation: "a function", fits: (value) => typeof value === "function" },
  object: { expectation: "an object", fits: (value) => typeof value === "object" && value !== null },
  milliseconds: {
    expectation: `a number of milliseconds from 0 to ${maxMilliseconds}`,
    fits: (value) => typeof value === "number" && value >= 0 && value <= maxMilliseconds,
  },
  durability: {
    expectation: '"full" or "relaxed"',
    fits: (value) => value === "full" || value === "relaxed",
  },
};

/**
 * Throws `InvalidOption` for an unknown option and for a value of the wrong form: callers without types may pass any value.
 * `caller` is the function that received the options.
 */
export function validateOptions<Options>(
  caller: string,
  options: unknown,
  forms: OptionForms<Options>,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalidOption(`${caller} needs an object of options, got ${valueToText(options)}.`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(forms, name));
  if (unknown !== undefined)
    throw invalidOption(`Unknown option "${unknown}" of ${caller}.${hintFor(unknown, Object.keys(forms))}`);
  for (const [name, { expectation, fits }] of Object.entries<OptionForm>(forms)) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined && !fits(value))
      throw invalidOption(`${name} of ${caller} must be ${expectation}, got ${valueToText(value)}.`);
  }
}

function hintFor(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? ` Known options: ${known.join(", ")}.` : ` Did you mean "${nearest}"?`;
}

const invalidOption = (message: string): LogError => new LogError("InvalidOption", message);
