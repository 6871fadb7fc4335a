import type { Json, JsonObject } from "@moora/llm";
import type { Choose } from "../draw-input.ts";
import { oneOf } from "./choices.ts";

/** A value that mostly fits a JSON Schema: enough of it is read for tools to get past their front door. */
export function drawJson(schema: Json, choose: Choose, depth = 0): Json {
  if (!isObject(schema)) return drawAny(choose);
  if (schema["const"] !== undefined) return schema["const"];
  if (isList(schema["enum"])) return oneOf(choose, schema["enum"]);
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const options = schema[word];
    if (isList(options)) return drawJson(oneOf(choose, options), choose, depth + 1);
  }
  const type: unknown = isList(schema["type"]) ? oneOf(choose, schema["type"]) : schema["type"];
  switch (type) {
    case "object":
      return drawObject(schema, choose, depth);
    case "array":
      return depth > 4
        ? []
        : Array.from({ length: choose(3) }, () => drawJson(schema["items"] ?? {}, choose, depth + 1));
    case "string":
      return drawString(choose);
    case "integer":
      return numberIn(schema, choose(7) - 1);
    case "number":
      return numberIn(schema, oneOf(choose, [0, 1, -1, 2.5, 1e9]));
    case "boolean":
      return choose(2) === 0;
    case "null":
      return null;
    default:
      return isObject(schema["properties"]) ? drawObject(schema, choose, depth) : drawAny(choose);
  }
}

function drawObject(schema: JsonObject, choose: Choose, depth: number): Json {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = isList(schema["required"]) ? schema["required"] : [];
  const drawn: Record<string, Json> = {};
  for (const [name, property] of Object.entries(properties))
    if (required.includes(name) || (depth < 4 && choose(2) === 0))
      drawn[name] = drawJson(property, choose, depth + 1);
  return drawn;
}

function numberIn(schema: JsonObject, drawn: number): number {
  const { minimum, maximum, exclusiveMinimum: above } = schema;
  const least = typeof minimum === "number" ? minimum : typeof above === "number" ? above + 1 : drawn;
  const most = typeof maximum === "number" ? maximum : Math.max(drawn, least);
  return Math.min(Math.max(drawn, least), most);
}

const drawString = (choose: Choose): string =>
  oneOf(choose, ["a", "Oslo", "2026-01-02", "", "𝒳", "'; drop table", "x".repeat(300)]);

const drawAny = (choose: Choose): Json => oneOf<Json>(choose, ["text", 1, true, null, [], {}]);

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value) && value.length > 0;
