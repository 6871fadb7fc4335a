import * as z from "zod/mini";

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

const converted = new WeakMap<z.ZodMiniType, JsonSchema>();

/**
 * The JSON Schema of what a schema accepts, made once. Objects allow fields that are not listed unless a body is refused with them: a
 * later release may add fields.
 */
export function schemaToJson(schema: z.ZodMiniType): JsonSchema {
  const known = converted.get(schema);
  if (known !== undefined) return known;
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  converted.set(schema, json);
  return json;
}
