import { optionHint, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { SessionError } from "./durable/session-error.ts";

/** The type of an option's value. `any`: not checked here. */
type Form = "string" | "function" | "boolean" | "number" | "object" | "clock" | "signal" | "any";

/** The form of each option of a function: a row that is missing here does not compile. */
export type OptionForms<Options> = Readonly<Record<keyof Options, Form>>;

/**
 * Throws `BuildError` for an unknown option and for a value of the wrong form: callers without types may pass any
 * value.
 */
export function checkOptions<Options>(caller: string, options: unknown, forms: OptionForms<Options>): void {
  const problem = optionsProblem(caller, options, forms);
  if (problem !== undefined) refuse(problem);
}

/** Does the same check for functions that read logs, and throws `SessionError` with the code `InvalidOption`. */
export function checkLogOptions<Options>(
  caller: string,
  options: unknown,
  forms: OptionForms<Options>,
): asserts options is Readonly<Record<string, unknown>> {
  const problem = optionsProblem(caller, options, forms);
  if (problem !== undefined) throw new SessionError("InvalidOption", problem);
}

function optionsProblem(
  caller: string,
  options: unknown,
  forms: Readonly<Record<string, Form>>,
): string | undefined {
  if (!isObject(options)) return `${caller} needs an object of options, got ${shownValue(options)}.`;
  const known = Object.keys(forms);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) return `Unknown option "${unknown}" of ${caller}.${optionHint(unknown, known)}`;
  const wrong = Object.entries(forms).find(([name, form]) => !hasForm(options[name], form));
  if (wrong === undefined) return undefined;
  const [name, form] = wrong;
  return `${name} must be ${expectations[form]}, got ${shownValue(options[name])}.`;
}

const expectations: Readonly<Record<Form, string>> = {
  string: "a string",
  function: "a function",
  boolean: "true or false",
  number: "a number",
  object: "an object",
  clock: "a clock, an object with now() and after()",
  signal: "an AbortSignal",
  any: "of another form",
};

/** The methods that an object of this form must have. */
const methods: Readonly<Record<string, readonly string[]>> = {
  object: [],
  clock: ["now", "after"],
  signal: ["addEventListener", "removeEventListener"],
};

function hasForm(value: unknown, form: Form): boolean {
  if (form === "any" || value === undefined) return true;
  const names = methods[form];
  if (names === undefined) return typeof value === form;
  return isObject(value) && names.every((name) => typeof value[name] === "function");
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
