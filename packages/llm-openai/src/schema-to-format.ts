import type { JsonObject } from "@moora/llm";
import {
  chatAnswer,
  chatTool,
  convertSchema,
  openAiOpen,
  openAiStrict,
  type ConvertedSchema,
} from "@moora/llm/adapter";

/** The schema of a tool for a server that enforces schemas with `strict: true`, or for another one. It may be strict if it is exact. */
export function toolSchema(schema: JsonObject, isStrict: boolean): ConvertedSchema {
  return isStrict ? convertSchema(schema, openAiStrict, openAiOpen) : convertSchema(schema, chatTool);
}

/**
 * The format of an answer: strict if its schema can be enforced, otherwise a hint for the model. Undefined for a schema
 * whose root is not an object, which these APIs do not accept.
 */
export function schemaToFormat(
  schema: JsonObject,
  isStrict: boolean,
): { readonly name: string; readonly schema: Record<string, unknown>; readonly strict: boolean } | undefined {
  const isUnion = ["anyOf", "oneOf", "allOf", "$ref"].some((keyword) => keyword in schema);
  if (schema["type"] !== "object" || isUnion) return undefined;
  const [strict, wider] = isStrict ? [openAiStrict, openAiOpen] : [chatAnswer, chatTool];
  const { schema: converted, isExact } = convertSchema(schema, strict, wider);
  return { name: "answer", schema: { ...converted }, strict: isExact };
}
