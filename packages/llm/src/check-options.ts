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
  /** The forms of the fields of an object, or of each object of a list. Objects have no other fields. */
  readonly fields?: Readonly<Record<string, NamedForm>>;
}

/** A form, or the name of one of `optionForms`. */
export type NamedForm = FormName | OptionForm;

/** The form of each option: a missing one does not compile. */
export type OptionForms<Options> = Readonly<Record<keyof Options, NamedForm>>;

const typed = (type: string, expectation: string): OptionForm => ({
  expectation,
  fits: (value) => typeof value === type,
});

const string = typed("string", "a string");

const positiveInteger: OptionForm = {
  expectation: "a positive integer",
  fits: (value) => typeof value === "number" && Number.isSafeInteger(value) && value > 0,
};

const regularExpression: OptionForm = {
  expectation: "a regular expression",
  fits: (value) => value instanceof RegExp,
  isOptional: false,
};

/** The form of an object with these methods: `a clock, an object with now() and after()`. */
export function withMethods(noun: string, ...names: readonly [string, ...string[]]): OptionForm {
  const calls = names.map((name) => `${name}()`).join(", ");
  return {
    expectation: `${noun}, an object with ${calls.replace(/, ([^,]*)$/, " and $1")}`,
    fits: (value) => isJsonObject(value) && names.every((name) => typeof value[name] === "function"),
  };
}

/** `any`: not checked here. */
type FormName =
  | "string"
  | "boolean"
  | "number"
  | "function"
  | "object"
  | "texts"
  | "milliseconds"
  | "positive"
  | "positiveInteger"
  | "amount"
  | "port"
  | "secretString"
  | "headers"
  | "clock"
  | "signal"
  | "idFormat"
  | "any";

/** The forms of options. All of them also accept undefined, unless `required`. */
export const optionForms: Readonly<Record<FormName, OptionForm>> = {
  string,
  boolean: typed("boolean", "true or false"),
  number: typed("number", "a number"),
  function: typed("function", "a function"),
  object: { expectation: "an object", fits: isJsonObject },
  texts: {
    expectation: "a list of strings",
    fits: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
  },
  /** A time limit in milliseconds; `Infinity` disables it. */
  milliseconds: {
    expectation: "a positive number of milliseconds",
    fits: (value) => typeof value === "number" && value > 0,
  },
  positive: { expectation: "a positive number", fits: (value) => typeof value === "number" && value > 0 },
  positiveInteger,
  amount: {
    expectation: "a number of at least 0",
    fits: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
  },
  /** 0 is any free port. */
  port: {
    expectation: "an integer from 0 to 65535",
    fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  },
  secretString: { ...string, isSecret: true },
  headers: {
    expectation: "an object whose values are strings",
    fits: (value) => isJsonObject(value) && Object.values(value).every((text) => typeof text === "string"),
    isSecret: true,
  },
  clock: withMethods("a clock", "now", "after"),
  signal: {
    ...withMethods("an AbortSignal", "addEventListener", "removeEventListener"),
    expectation: "an AbortSignal",
  },
  /** The format of the ids of tool calls, an `IdFormat`. */
  idFormat: {
    expectation: "an object with pattern and length",
    fits: isJsonObject,
    fields: { pattern: regularExpression, length: { ...positiveInteger, isOptional: false } },
  },
  any: { expectation: "of another form", fits: () => true },
};

/** The form of an option with a fixed set of values. */
export const oneOf = (...values: readonly unknown[]): OptionForm => ({
  expectation: values
    .map((value) => JSON.stringify(value))
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1"),
  fits: (value) => values.includes(value),
});

/** The form of an option that must not be missing. */
export const required = (form: NamedForm): OptionForm => ({ ...formOf(form), isOptional: false });

const formOf = (form: NamedForm): OptionForm => (typeof form === "string" ? optionForms[form] : form);

/** The forms of the options of every connection. */
export const connectionForms: OptionForms<ConnectionOptions> = {
  apiKey: optionForms.secretString,
  baseURL: optionForms.secretString,
  model: optionForms.string,
  headers: optionForms.headers,
  fetch: optionForms.function,
  firstChunkTimeoutMs: optionForms.milliseconds,
  idleTimeoutMs: optionForms.milliseconds,
  contentTimeoutMs: optionForms.milliseconds,
  callTimeoutMs: optionForms.milliseconds,
  dangerouslyAllowBrowser: optionForms.boolean,
};

/**
 * Throws `LlmOptionError` for an unknown option and for a value of the wrong form: callers without types may pass any value, and
 * a misspelled `baseURL` would send the key to another server. `caller` is the function that received the options.
 */
export function checkOptions<Options>(caller: string, options: unknown, forms: OptionForms<Options>): void {
  const placeOf = (path: string): string => `${path} of ${caller}`;
  const problem = optionsProblem(caller, options, forms, { placeOf, hintOf: settingHint });
  if (problem !== undefined) throw new LlmOptionError(problem.message);
}

/** Why options are invalid: the path of the option, empty for the options as a whole, and a sentence. */
export interface OptionProblem {
  readonly path: string;
  readonly message: string;
}

/** The words of a problem: the subject of its sentence by the path of the option (default: the path), and the hint for an unknown one. */
export interface OptionWords {
  readonly placeOf?: (path: string) => string;
  readonly hintOf?: (name: string, known: readonly string[]) => string;
}

/** Why options are invalid, with the value and the nearest known name; undefined for valid ones. */
export function optionsProblem<Options>(
  caller: string,
  options: unknown,
  forms: OptionForms<Options>,
  words: OptionWords = {},
): OptionProblem | undefined {
  if (!isJsonObject(options))
    return { path: "", message: `${caller} needs an object of options, got ${shownValue(options)}.` };
  return fieldsProblem({ ...words, caller, path: "" }, options, forms);
}

/** The options with a model. Throws `LlmOptionError` if the model is not a string, or `options` is not an object. */
export function optionsWithModel<Options extends ConnectionOptions>(
  caller: string,
  model: string,
  options: Options,
): Options {
  if (typeof model !== "string")
    throw new LlmOptionError(`${caller} needs the name of a model, got ${shownValue(model)}.`);
  if (!isJsonObject(options))
    throw new LlmOptionError(`${caller} needs an object of options, got ${shownValue(options)}.`);
  return { ...options, model };
}

interface Place extends OptionWords {
  readonly caller: string;
  /** The path in front of a field: empty, or with a dot at its end. */
  readonly path: string;
}

function fieldsProblem(
  place: Place,
  given: Readonly<Record<string, unknown>>,
  forms: Readonly<Record<string, NamedForm>>,
): OptionProblem | undefined {
  const { caller, hintOf = optionHint } = place;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(forms, name));
  if (unknown !== undefined) {
    const path = `${place.path}${unknown}`;
    return { path, message: `Unknown option "${path}" of ${caller}.${hintOf(unknown, Object.keys(forms))}` };
  }
  for (const [name, form] of Object.entries(forms)) {
    const problem = valueProblem({ ...place, path: `${place.path}${name}` }, given[name], formOf(form));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function valueProblem(place: Place, value: unknown, form: OptionForm): OptionProblem | undefined {
  const { expectation, fits, fields, isOptional = true, isSecret = false } = form;
  const { path, placeOf = String } = place;
  const problem = (verdict: string): OptionProblem => ({
    path,
    message: `${placeOf(path)} ${verdict}`.trimStart(),
  });
  if (value === undefined) return isOptional ? undefined : problem(`is missing. It must be ${expectation}.`);
  if (!fits(value)) {
    const got = isSecret ? typeOf(value) : shownValue(value);
    return problem(`must be ${expectation}, got ${got}.`);
  }
  if (fields === undefined) return undefined;
  if (!Array.isArray(value))
    return isJsonObject(value) ? fieldsProblem({ ...place, path: `${path}.` }, value, fields) : undefined;
  for (const [index, item] of value.entries()) {
    const ofItem = valueProblem({ ...place, path: `${path}[${index}]` }, item, {
      ...optionForms.object,
      fields,
    });
    if (ofItem !== undefined) return ofItem;
  }
  return undefined;
}

function settingHint(name: string, known: readonly string[]): string {
  if (Object.hasOwn(knownSettings, name))
    return ` It is a setting of requests: pass it as settings.${name} of the request or of the agent.`;
  return optionHint(name, known);
}

const typeOf = (value: unknown): string =>
  typeof value === "object" || typeof value === "function" || value === undefined
    ? shownValue(value)
    : `a ${typeof value}`;

/** A value for a message: a short text in quotes, a number as it is, else the kind of the value, such as "an array". */
export function shownValue(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 59).toWellFormed()}…` : value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
