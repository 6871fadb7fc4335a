import type { JsonObject } from "@moora/llm";
import { isStandardSchema, type StandardSchema } from "../tool/standard-schema.ts";
import { jsonSchemaPart } from "./json-schema-part.ts";
import type { SchemaPart } from "./schema-part.ts";
import { isZodSchema, zodPart } from "./zod-part.ts";

/** The parts of a schema. Undefined for one of a library that does not say what it consists of. */
export function schemaPartOf(schema: StandardSchema | JsonObject): SchemaPart | undefined {
  if (!isStandardSchema(schema)) return jsonSchemaPart(schema);
  return isZodSchema(schema) ? zodPart(schema) : undefined;
}
