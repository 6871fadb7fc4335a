import type * as z from "zod/mini";
import { schemaToJson, type JsonSchema } from "./schema-to-json.ts";

/** A part of a schema, and the path that leads to it. */
interface Part {
  readonly path: readonly PropertyKey[];
  readonly schema: JsonSchema;
}

/**
 * A sentence with the form that a schema accepts at a path, in the notation of TypeScript; at the last part of the path that the schema
 * describes alone, such as a union that contains the rest. It has names of the schema only, and nothing of the value.
 */
export function acceptedForm(schema: z.ZodMiniType, path: readonly PropertyKey[]): string {
  const part = partAt({ path: [], schema: schemaToJson(schema) }, path);
  const place = part.path.length === 0 ? "" : ` for ${part.path.map(String).join(".")}`;
  return `Accepted${place}: ${formOf(part.schema)}${limitsOf(part.schema)}.`;
}

function partAt(part: Part, [key, ...rest]: readonly PropertyKey[]): Part {
  if (key === undefined) return part;
  const { items, properties = {} } = part.schema;
  const next = typeof key === "number" ? items : Object.hasOwn(properties, key) && properties[String(key)];
  if (typeof next !== "object" || Array.isArray(next)) return part;
  return partAt({ path: [...part.path, key], schema: next }, rest);
}

function formOf(schema: JsonSchema | boolean): string {
  if (typeof schema === "boolean") return "any";
  const { type, items, properties = {}, anyOf, oneOf = anyOf } = schema;
  if (oneOf !== undefined) return oneOf.map(formOf).join(" | ");
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (type === "array" && items !== undefined && !Array.isArray(items))
    return `${elementForm(formOf(items))}[]`;
  if (type === "object") return objectForm(schema, properties);
  return [type ?? "any"].flat().join(" | ");
}

const elementForm = (form: string): string => (form.includes(" | ") ? `(${form})` : form);

function objectForm(
  { required = [], additionalProperties }: JsonSchema,
  properties: NonNullable<JsonSchema["properties"]>,
): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? "" : "?"}: ${formOf(schema)}`,
  );
  const shown = additionalProperties === false ? fields : [...fields, "..."];
  return shown.length === 0 ? "{}" : `{ ${shown.join(", ")} }`;
}

/** The lengths and the smallest number that a text, a list or a number may have. */
function limitsOf({ minLength, maxLength, minItems, maxItems, minimum }: JsonSchema): string {
  if (maxLength !== undefined) return ` of ${minLength ?? 0} to ${maxLength} characters`;
  if (maxItems !== undefined) return ` of ${minItems ?? 0} to ${maxItems} items`;
  if (minItems !== undefined) return ` of ${minItems} items or more`;
  return minimum === undefined ? "" : ` of ${minimum} or more`;
}
