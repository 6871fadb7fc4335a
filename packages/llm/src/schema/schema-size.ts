import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { SchemaDialect, SchemaSize } from "./schema-dialects.ts";
import { fieldsOf, requiredKeys } from "./schema-facts.ts";

/** A schema and all schemas in it, with their depths. A schema that is true or false has no keywords. */
export function* schemaParts(schema: Json, depth: number = 0): Generator<readonly [JsonObject, number]> {
  const part = isJsonObject(schema) ? schema : {};
  yield [part, depth];
  const { $defs, items, additionalProperties: unnamed, anyOf = [], oneOf = [], allOf = [] } = part;
  for (const field of [...Object.values(fieldsOf(part)), ...(isJsonObject(unnamed) ? [unnamed] : [])])
    yield* schemaParts(field, depth + 1);
  for (const item of items === undefined ? [] : [items].flat()) yield* schemaParts(item, depth + 1);
  for (const one of [anyOf, oneOf, allOf].flat()) yield* schemaParts(one, depth);
  if (isJsonObject($defs)) for (const one of Object.values($defs)) yield* schemaParts(one, 1);
}

/** The sizes of a schema that are above limits. */
export function sizesAbove(schema: JsonObject, limits: SchemaDialect["limits"] = {}): readonly SchemaSize[] {
  const size = { depth: 0, properties: 0, enumValues: 0, optional: 0, unions: 0 };
  for (const [part, depth] of schemaParts(schema)) {
    const { type, enum: values = [] } = part;
    const names = Object.keys(fieldsOf(part));
    size.depth = Math.max(size.depth, depth);
    size.properties += names.length;
    size.optional += names.filter((name) => !requiredKeys(part).includes(name)).length;
    size.enumValues += [values].flat().length;
    if (Array.isArray(type) || "anyOf" in part) size.unions += 1;
  }
  const names = ["depth", "properties", "enumValues", "optional", "unions"] as const;
  return names.filter((name) => size[name] > (limits[name] ?? Infinity));
}
