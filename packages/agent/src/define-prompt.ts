import { didYouMean, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { isObject } from "./check-options.ts";

/** The names of the variables of a template; `string` for a template that is not a literal. */
export type PromptVariable<Template extends string> = string extends Template
  ? string
  : Template extends `${string}{{${infer Name}}}${infer Rest}`
    ? Trimmed<Name> | PromptVariable<Rest>
    : never;

type Trimmed<Text extends string> = Text extends ` ${infer Rest}` | `${infer Rest} ` ? Trimmed<Rest> : Text;

/** The value of a variable. A number must be finite. */
export type PromptValue = string | number | boolean;

/** The values of the variables of a template; nothing for a template without variables. */
export type PromptValues<Template extends string> = [PromptVariable<Template>] extends [never]
  ? []
  : [values: Readonly<Record<PromptVariable<Template>, PromptValue>>];

/** Returns the text of a prompt. Throws `BuildError` for a value that is missing, unknown, or not one of `PromptValue`. */
export type Prompt<Template extends string> = (...values: PromptValues<Template>) => string;

const variable = /\{\{([^{}]*)\}\}/g;

/**
 * Defines a prompt with variables, such as `You help {{customer}}.`, for `systemPrompt`. The function that it returns renders the text:
 * each variable is replaced by its value, once, so that a value that looks like a variable stays as it is. What is recorded is the
 * text. Throws `BuildError` for a template that is not a string, and for a variable whose name is not made of letters, digits and `_`.
 */
export function definePrompt<const Template extends string>(template: Template): Prompt<Template> {
  if (typeof template !== "string")
    refuse(`The template of a prompt must be a string, got ${shownValue(template)}.`);
  const names = namesIn(template);
  return (...[given]) => {
    const values = checkedValues(names, given ?? {});
    return template.replaceAll(variable, (_, name: string) => String(values.get(name.trim())));
  };
}

/** The names of the variables of a template. */
function namesIn(template: string): readonly string[] {
  const names = [...template.matchAll(variable)].map(([written, name = ""]) => {
    const trimmed = name.trim();
    if (/^\w+$/.test(trimmed)) return trimmed;
    return refuse(
      `Invalid variable ${written} in a prompt. Use letters, digits and "_", such as {{customer}}.`,
    );
  });
  return [...new Set(names)];
}

function checkedValues(names: readonly string[], given: unknown): ReadonlyMap<string, PromptValue> {
  if (!isObject(given)) return refuse(`The values of a prompt must be an object, got ${shownValue(given)}.`);
  for (const name of Object.keys(given))
    if (!names.includes(name)) refuse(`The prompt has no variable "${name}".${didYouMean(name, names)}`);
  return new Map(
    names.map((name) => [name, checkedValue(name, Object.hasOwn(given, name) ? given[name] : undefined)]),
  );
}

function checkedValue(name: string, value: unknown): PromptValue {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (value === undefined) return refuse(`The variable "${name}" of the prompt is missing.`);
  return refuse(
    `The variable "${name}" of the prompt must be a string, a finite number or a boolean, got ${shownValue(value)}.`,
  );
}
