import { didYouMean, refuse, shownValue } from "@moora/agent-core-effects";
import { SessionError } from "./durable/session-error.ts";

/** What an option must be. "any": another check, or none, applies. */
type Form = "string" | "function" | "boolean" | "object" | "any";

/** The form of each option of a function: a row that is missing here does not compile. */
export type OptionForms<Options> = Readonly<Record<keyof Options, Form>>;

/** Throws `BuildError` for options with an unknown name or of the wrong form: hosts without types may give anything. */
export function checkOptions<Options>(caller: string, options: unknown, forms: OptionForms<Options>): void {
  const problem = optionsProblem(caller, options, forms);
  if (problem !== undefined) refuse(problem);
}

/** The same for functions that read logs: throws `SessionError` with the code `InvalidOption`. */
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
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, known) || ` Known options: ${known.join(", ")}.`;
    return `Unknown option "${unknown}" of ${caller}.${hint}`;
  }
  const wrong = Object.entries(forms).find(([name, form]) => !hasForm(options[name], form));
  if (wrong === undefined) return undefined;
  const [name, form] = wrong;
  return `${name} must be ${form === "object" ? "an object" : `a ${form}`}, got ${shownValue(options[name])}.`;
}

function hasForm(value: unknown, form: Form): boolean {
  if (form === "any" || value === undefined) return true;
  return form === "object" ? isObject(value) : typeof value === form;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
