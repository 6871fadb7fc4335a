import { optionHint } from "@moora/llm/internal";
import { refuse } from "./errors/build-error.ts";
import { shownValue } from "./field-problem.ts";

/** What the value of an option must be. Undefined fits every form: the option is not given. */
export interface OptionForm {
  /** The end of a message: `a string`, as in `owner must be a string`. */
  readonly expectation: string;
  readonly fits: (value: unknown) => boolean;
}

/** Whether a value is an object with fields, and not a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The form of an object with these methods: `a clock, an object with now() and after()`. */
export function withMethods(noun: string, ...names: readonly [string, ...string[]]): OptionForm {
  const calls = names.map((name) => `${name}()`).join(", ");
  return {
    expectation: `${noun}, an object with ${calls.replace(/, ([^,]*)$/, " and $1")}`,
    fits: (value) => isObject(value) && names.every((name) => typeof value[name] === "function"),
  };
}

/** The form of an option with a fixed set of values. */
export const oneOf = (...values: readonly unknown[]): OptionForm => ({
  expectation: `one of ${values.join(", ")}`,
  fits: (value) => values.includes(value),
});

const typed = (type: string, expectation: string): OptionForm => ({
  expectation,
  fits: (value) => typeof value === type,
});

/** The names of the forms that many options have. `any`: not checked here. */
type FormName =
  | "string"
  | "function"
  | "boolean"
  | "number"
  | "object"
  | "positive"
  | "positiveInteger"
  | "port"
  | "texts"
  | "clock"
  | "signal"
  | "any";

const commonForms: Readonly<Record<FormName, OptionForm>> = {
  string: typed("string", "a string"),
  function: typed("function", "a function"),
  boolean: typed("boolean", "true or false"),
  number: typed("number", "a number"),
  object: { expectation: "an object", fits: isObject },
  positive: {
    expectation: "a positive number",
    fits: (value) => typeof value === "number" && value > 0,
  },
  positiveInteger: {
    expectation: "a positive integer",
    fits: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  },
  /** 0 is any free port. */
  port: {
    expectation: "an integer from 0 to 65535",
    fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  },
  texts: {
    expectation: "a list of strings",
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  },
  clock: withMethods("a clock", "now", "after"),
  signal: {
    ...withMethods("an AbortSignal", "addEventListener", "removeEventListener"),
    expectation: "an AbortSignal",
  },
  any: { expectation: "of another form", fits: () => true },
};

type NamedForm = FormName | OptionForm;

/** The form of each option of a function: a row that is missing here does not compile. */
export type OptionForms<Options> = Readonly<Record<keyof Options, NamedForm>>;

/**
 * Throws `BuildError` for an unknown option and for a value of the wrong form: callers without types may pass any
 * value. `caller` is the function that received the options.
 */
export function checkOptions<Options>(caller: string, options: unknown, forms: OptionForms<Options>): void {
  const problem = optionsProblem(caller, options, forms);
  if (problem !== undefined) refuse(problem);
}

/** Why options are invalid, with the value and the nearest known name; undefined for valid ones. `placeOf` names an option. */
export function optionsProblem<Options>(
  caller: string,
  options: unknown,
  forms: OptionForms<Options>,
  placeOf: (name: string) => string = (name) => name,
): string | undefined {
  if (!isObject(options)) return `${caller} needs an object of options, got ${shownValue(options)}.`;
  const known = Object.keys(forms);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown option "${unknown}" of ${caller}.${optionHint(unknown, known)}`;
  return valuesProblem(options, forms, placeOf);
}

/** Why the value of an option is invalid; undefined if all are valid. Options without a form are not checked. */
export function valuesProblem(
  options: Readonly<Record<string, unknown>>,
  forms: Readonly<Record<string, NamedForm>>,
  placeOf: (name: string) => string = (name) => name,
): string | undefined {
  for (const [name, given] of Object.entries(forms)) {
    const { expectation, fits } = typeof given === "string" ? commonForms[given] : given;
    const value = options[name];
    if (value !== undefined && !fits(value))
      return `${placeOf(name)} must be ${expectation}, got ${shownValue(value)}.`;
  }
  return undefined;
}
