import type { JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";

/** The keywords of a field, beside its type, and whether the protocol allows a value of theirs. */
type Keywords = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"]);

const words: Keywords = { title: isText, description: isText };
const choice: Keywords = { ...words, default: isText };
const number: Keywords = { ...words, minimum: isNumber, maximum: isNumber, default: isNumber };

const keywordsOf: ReadonlyMap<unknown, Keywords> = new Map([
  [
    "string",
    {
      ...words,
      minLength: isNumber,
      maxLength: isNumber,
      format: (value) => formats.has(value),
      default: isText,
    },
  ],
  ["number", number],
  ["integer", number],
  ["boolean", { ...words, default: isBoolean }],
]);

/**
 * The field of a form for a JSON Schema, with the keywords that the protocol allows; undefined for a schema that is not of one simple
 * type. What is left out, such as a pattern, is checked when the form is answered.
 */
export function schemaToField(schema: unknown): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type } = schema;
  const choices = type === "string" ? choicesOf(schema) : undefined;
  if (choices !== undefined) return { type: "string", ...choices, ...allowed(schema, choice) };
  const keywords = keywordsOf.get(type);
  return keywords && isText(type) ? { type, ...allowed(schema, keywords) } : undefined;
}

const allowed = (schema: JsonObject, keywords: Keywords): JsonObject =>
  Object.fromEntries(
    Object.entries(keywords).flatMap(([key, isAllowed]) => {
      const value = schema[key];
      return value !== undefined && isAllowed(value) ? [[key, value] as const] : [];
    }),
  );

/** The texts of which one is chosen; undefined if any text is. */
function choicesOf(schema: JsonObject): JsonObject | undefined {
  const { const: only, enum: all, oneOf } = schema;
  if (isText(only)) return { enum: [only] };
  if (Array.isArray(all) && all.every(isText)) return { enum: all };
  if (!Array.isArray(oneOf)) return undefined;
  const titled = oneOf.flatMap((option) => titledChoice(option) ?? []);
  return titled.length === oneOf.length ? { oneOf: titled } : undefined;
}

function titledChoice(option: unknown): JsonObject | undefined {
  if (!isJsonObject(option)) return undefined;
  const { const: value, title = value } = option;
  return isText(value) && isText(title) ? { const: value, title } : undefined;
}
