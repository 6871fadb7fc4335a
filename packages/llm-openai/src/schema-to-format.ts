import type { JsonObject } from "@moora/llm";
import { strictSchema, type StrictRules } from "@moora/llm/adapter";

/** The schema features that OpenAI and compatible servers enforce with `strict: true`. */
export const openAiStrictRules: StrictRules = {
  enforcedKeywords: [
    "pattern",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
  ],
  describedKeywords: [],
  enforcedFormats: ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
  allowsOptionalKeys: false,
  allowsRecursion: true,
};

/**
 * The format of an answer: strict if its schema can be enforced, otherwise a hint for the model. Undefined for a schema
 * whose root is not an object, which these APIs do not accept.
 */
export function schemaToFormat(
  schema: JsonObject,
): { readonly name: string; readonly schema: Record<string, unknown>; readonly strict: boolean } | undefined {
  const isUnion = ["anyOf", "oneOf", "allOf", "$ref"].some((keyword) => keyword in schema);
  if (schema["type"] !== "object" || isUnion) return undefined;
  const strict = strictSchema(schema, openAiStrictRules);
  return { name: "answer", schema: { ...(strict ?? schema) }, strict: strict !== undefined };
}
