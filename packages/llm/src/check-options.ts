import type { ConnectionOptions } from "./connection.ts";
import { isJsonObject } from "./json.ts";
import { LlmOptionError } from "./llm-option-error.ts";
import { optionHint } from "./nearest.ts";
import { knownSettings } from "./warnings.ts";

/** The form of the values of an option. Compose it with `optionForms`. */
export interface OptionForm {
  /** What a value must be, as in `apiKey must be a string`. */
  readonly expectation: string;
  readonly fits: (value: unknown) => boolean;
  /** Whether an object may lack the option. Default: true. */
  readonly isOptional?: boolean;
  /** Whether messages must not contain values. Default: false. */
  readonly isSecret?: boolean;
  /** The forms of the fields of an object. */
  readonly fields?: Readonly<Record<string, OptionForm>>;
}

/** The form of each option: a missing one does not compile. */
export type OptionForms<Options> = Readonly<Record<keyof Options, OptionForm>>;

const string: OptionForm = { expectation: "a string", fits: (value) => typeof value === "string" };

const positiveInteger: OptionForm = {
  expectation: "a positive integer",
  fits: (value) => typeof value === "number" && Number.isSafeInteger(value) && value > 0,
};

const regularExpression: OptionForm = {
  expectation: "a regular expression",
  fits: (value) => value instanceof RegExp,
  isOptional: false,
};

/** The forms of options. All of them also accept undefined, unless `required`. */
export const optionForms: Readonly<
  Record<
    | "string"
    | "boolean"
    | "function"
    | "object"
    | "milliseconds"
    | "positiveInteger"
    | "secretString"
    | "headers"
    | "clock"
    | "idFormat",
    OptionForm
  >
> = {
  string,
  boolean: { expectation: "true or false", fits: (value) => typeof value === "boolean" },
  function: { expectation: "a function", fits: (value) => typeof value === "function" },
  object: { expectation: "an object", fits: isJsonObject },
  /** A time limit in milliseconds; `Infinity` disables it. */
  milliseconds: {
    expectation: "a positive number of milliseconds",
    fits: (value) => typeof value === "number" && value > 0,
  },
  positiveInteger,
  secretString: { ...string, isSecret: true },
  headers: {
    expectation: "an object whose values are strings",
    fits: (value) => isJsonObject(value) && Object.values(value).every((text) => typeof text === "string"),
    isSecret: true,
  },
  clock: {
    expectation: "a clock, an object with now() and after()",
    fits: (value) =>
      isJsonObject(value) && typeof value["now"] === "function" && typeof value["after"] === "function",
  },
  /** The format of the ids of tool calls, an `IdFormat`. */
  idFormat: {
    expectation: "an object with pattern and length",
    fits: isJsonObject,
    fields: { pattern: regularExpression, length: { ...positiveInteger, isOptional: false } },
  },
};

/** The form of an option with a fixed set of values. */
export const oneOf = (...values: readonly string[]): OptionForm => ({
  expectation: values
    .map((value) => JSON.stringify(value))
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1"),
  fits: (value) => values.some((known) => known === value),
});

/** The form of an option that must not be missing. */
export const required = (form: OptionForm): OptionForm => ({ ...form, isOptional: false });

/** The forms of the options of every connection. */
export const connectionForms: OptionForms<ConnectionOptions> = {
  apiKey: optionForms.secretString,
  baseURL: optionForms.secretString,
  model: optionForms.string,
  headers: optionForms.headers,
  fetch: optionForms.function,
  firstChunkTimeoutMs: optionForms.milliseconds,
  idleTimeoutMs: optionForms.milliseconds,
  dangerouslyAllowBrowser: optionForms.boolean,
};

/**
 * Throws `LlmOptionError` for an unknown option and for a value of the wrong form: callers without types may pass any value, and
 * a misspelled `baseURL` would send the key to another server. `caller` is the function that received the options.
 */
export function checkOptions<Options>(caller: string, options: unknown, forms: OptionForms<Options>): void {
  checkFields(checkedRecord(caller, options), forms, { caller, path: "" });
}

/** The options with a model. Throws `LlmOptionError` if the model is not a string, or `options` is not an object. */
export function optionsWithModel<Options extends ConnectionOptions>(
  caller: string,
  model: string,
  options: Options,
): Options {
  if (typeof model !== "string")
    throw new LlmOptionError(`${caller} needs the name of a model, got ${shown(model)}.`);
  checkedRecord(caller, options);
  return { ...options, model };
}

function checkedRecord(caller: string, options: unknown): Readonly<Record<string, unknown>> {
  if (isJsonObject(options)) return options;
  throw new LlmOptionError(`${caller} needs an object of options, got ${shown(options)}.`);
}

interface Place {
  readonly caller: string;
  /** The path in front of a field: empty, or with a dot at its end. */
  readonly path: string;
}

function checkFields(
  given: Readonly<Record<string, unknown>>,
  forms: Readonly<Record<string, OptionForm>>,
  place: Place,
): void {
  const known = Object.keys(forms);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(forms, name));
  if (unknown !== undefined) {
    throw new LlmOptionError(
      `Unknown option "${place.path}${unknown}" of ${place.caller}.${hintFor(unknown, known)}`,
    );
  }
  for (const [name, form] of Object.entries(forms)) checkValue(given[name], form, name, place);
}

function checkValue(value: unknown, form: OptionForm, name: string, { caller, path }: Place): void {
  if (value === undefined && form.isOptional !== false) return;
  const { expectation, fits, fields, isSecret = false } = form;
  if (!fits(value)) {
    const got = isSecret ? typeOf(value) : shown(value);
    throw new LlmOptionError(`${path}${name} of ${caller} must be ${expectation}, got ${got}.`);
  }
  if (fields !== undefined && isJsonObject(value))
    checkFields(value, fields, { caller, path: `${path}${name}.` });
}

function hintFor(name: string, known: readonly string[]): string {
  if (Object.hasOwn(knownSettings, name))
    return ` It is a setting of requests: pass it as settings.${name} of the request or of the agent.`;
  return optionHint(name, known);
}

const typeOf = (value: unknown): string =>
  typeof value === "object" || typeof value === "function" || value === undefined
    ? shown(value)
    : `a ${typeof value}`;

function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
