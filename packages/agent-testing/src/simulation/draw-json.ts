import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import type { Choose } from "../choose.ts";
import { oneOf } from "./choices.ts";
import type { Constants } from "./constants.ts";
import { drawNumber } from "./draw-number.ts";

const noConstants: Constants = { numbers: [], strings: [] };

/** A value that mostly fits a JSON Schema: enough of the schema is read for most values to pass the check of their tool. */
export function drawJson(
  schema: Json,
  choose: Choose,
  constants: Constants = noConstants,
  depth: number = 0,
): Json {
  if (!isJsonObject(schema)) return drawAny(choose);
  if (schema["const"] !== undefined) return schema["const"];
  for (const key of ["enum", "examples"]) {
    const values = schema[key];
    if (isList(values) && (key === "enum" || choose(4) === 0)) return oneOf(choose, values);
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const options = schema[key];
    if (isList(options)) return drawJson(oneOf(choose, options), choose, constants, depth + 1);
  }
  return drawTyped(schema, choose, constants, depth);
}

function drawTyped(schema: JsonObject, choose: Choose, constants: Constants, depth: number): Json {
  const type: unknown = isList(schema["type"]) ? oneOf(choose, schema["type"]) : schema["type"];
  switch (type) {
    case "object":
      return drawObject(schema, choose, constants, depth);
    case "array":
      return drawArray(schema, choose, constants, depth);
    case "string":
      return drawString(schema, constants.strings, choose);
    case "integer":
      return drawNumber(schema, true, constants.numbers, choose);
    case "number":
      return drawNumber(schema, false, constants.numbers, choose);
    case "boolean":
      return choose(2) === 0;
    case "null":
      return null;
    default:
      return isJsonObject(schema["properties"])
        ? drawObject(schema, choose, constants, depth)
        : drawAny(choose);
  }
}

function drawObject(schema: JsonObject, choose: Choose, constants: Constants, depth: number): Json {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = isList(schema["required"]) ? schema["required"] : [];
  const drawn: Record<string, Json> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (required.includes(name) || (depth < 4 && choose(2) === 0))
      drawn[name] = drawJson(property, choose, constants, depth + 1);
  }
  return drawn;
}

function drawArray(schema: JsonObject, choose: Choose, constants: Constants, depth: number): Json {
  const { minItems, maxItems } = schema;
  const least = typeof minItems === "number" ? minItems : 0;
  const most = typeof maxItems === "number" ? maxItems : least + 2;
  if (depth > 4) return [];
  return Array.from({ length: Math.min(least + choose(3), most) }, () =>
    drawJson(schema["items"] ?? {}, choose, constants, depth + 1),
  );
}

const formats: Readonly<Record<string, readonly string[]>> = {
  email: ["ada@example.com", "a+b@example.org"],
  uri: ["https://example.com/", "https://example.com/a?b=c#d"],
  date: ["2026-01-02", "2024-02-29"],
  "date-time": ["2026-01-02T03:04:05Z", "2024-02-29T23:59:59.999Z"],
  uuid: ["00000000-0000-4000-8000-000000000000", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"],
};

const plainTexts = ["a", "Oslo", "2026-01-02", "", "𝒳", "'; drop table", "x".repeat(300)];

function drawString(schema: JsonObject, constants: readonly string[], choose: Choose): string {
  const { format, minLength, maxLength } = schema;
  const known = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined;
  const texts = known ?? (constants.length > 0 && choose(3) === 0 ? constants : plainTexts);
  const text = oneOf(choose, texts);
  const padded = typeof minLength === "number" ? text.padEnd(minLength, "a") : text;
  return typeof maxLength === "number" && padded.length > maxLength
    ? padded.slice(0, maxLength).toWellFormed()
    : padded;
}

const drawAny = (choose: Choose): Json => oneOf<Json>(choose, ["text", 1, true, null, [], {}]);

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value) && value.length > 0;
