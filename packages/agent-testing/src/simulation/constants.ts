import type { Agent } from "@moora/agent";
import type { Json } from "@moora/llm";

/** Values that an agent's own definition names: what its tools, schemas, prompts and policies compare with. */
export interface Constants {
  readonly numbers: readonly number[];
  readonly strings: readonly string[];
}

/** The limit of numbers and of strings; further constants are ignored. */
const mostConstants = 64;

/**
 * The constants of an agent: numbers and strings of its tools' JSON Schemas (`minimum`, `maximum`, `enum`, `const`,
 * `examples`, `default`), numbers in descriptions and in the system prompt, and the literals in the source text of its
 * approval predicates.
 */
export function constantsOf({ config, tools, parts }: Agent<unknown>): Constants {
  const numbers = new Set<number>();
  const strings = new Set<string>();
  for (const { schema, description } of Object.values(tools)) {
    addFromSchema(JSON.parse(schema), numbers, strings);
    addNumbersIn(description, numbers);
  }
  addNumbersIn(config.systemPrompt, numbers);
  for (const predicate of Object.values(parts.predicates)) {
    const source = Function.prototype.toString.call(predicate);
    addNumbersIn(source, numbers);
    for (const [, text] of source.matchAll(/["'`]([^"'`\\\n]{1,40})["'`]/g)) strings.add(text ?? "");
  }
  return { numbers: [...numbers].slice(0, mostConstants), strings: [...strings].slice(0, mostConstants) };
}

function addNumbersIn(text: string, numbers: Set<number>): void {
  for (const [digits] of text.matchAll(/(?<![\w.])\d[\d_]*(?:\.\d+)?(?![\w.])/g)) {
    const value = Number(digits.replaceAll("_", ""));
    if (Number.isFinite(value)) numbers.add(value);
  }
}

const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/** The bounds of safe integers mean "any whole number": they are not constants of the agent. */
const isOwn = (value: number): boolean => Math.abs(value) < Number.MAX_SAFE_INTEGER;

function addFromSchema(schema: Json, numbers: Set<number>, strings: Set<string>): void {
  if (Array.isArray(schema)) for (const one of schema) addFromSchema(one, numbers, strings);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    if (bounds.includes(key)) addValues(value, numbers, strings);
    else if (key === "enum" || key === "const" || key === "examples" || key === "default")
      addValues(value, numbers, strings);
    else if (key === "description") addValues(numbersIn(value), numbers, strings);
    else addFromSchema(value, numbers, strings);
  }
}

function numbersIn(text: Json): Json {
  const numbers = new Set<number>();
  if (typeof text === "string") addNumbersIn(text, numbers);
  return [...numbers];
}

function addValues(value: Json, numbers: Set<number>, strings: Set<string>): void {
  if (typeof value === "number" && isOwn(value)) numbers.add(value);
  if (typeof value === "string") strings.add(value);
  if (Array.isArray(value)) for (const one of value) addValues(one, numbers, strings);
}
