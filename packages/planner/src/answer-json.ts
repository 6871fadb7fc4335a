import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { clauseOf } from "./clause.ts";
import { fieldsOf, type Field } from "./fields.ts";
import { fillArguments } from "./fill-arguments.ts";
import type { Progress } from "./progress.ts";

/** Names of fields that can contain the answer as text. */
const inWords = new Set(["answer", "text", "summary", "result", "message", "content", "reply"]);

/**
 * The answer as JSON for a schema: fields of the same name from the results, then values from the request, then the text of
 * the answer if there is a field for it. Undefined if a required field has no value: the planner does not invent values.
 */
export function answerJson(schema: JsonObject, progress: Progress, answer: string): string | undefined {
  const fields = fieldsOf(schema);
  const found = Object.fromEntries(
    progress.calls.flatMap(({ content }) => Object.entries(objectOf(content))),
  );
  const stated = fillArguments(fields, clauseOf(progress.text), new Set()).values;
  const entries = fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const { name } = field;
    if (Object.hasOwn(found, name) && isOfType(field, found[name])) return [[name, found[name] ?? null]];
    if (field.type === "string" && inWords.has(name)) return [[name, answer]];
    const value = Object.hasOwn(stated, name) ? stated[name] : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  const values: JsonObject = Object.fromEntries(entries);
  const isWhole = fields.every(({ name, isRequired }) => !isRequired || Object.hasOwn(values, name));
  return isWhole ? JSON.stringify(values) : undefined;
}

function objectOf(content: string): JsonObject {
  const json = textToJson(content);
  return isJsonObject(json) ? json : {};
}

function isOfType({ type }: Field, value: Json | undefined): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "any") return value !== undefined;
  return type === "object" ? isJsonObject(value) : typeof value === type;
}
