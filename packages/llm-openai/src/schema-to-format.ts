import type { JsonObject } from "@moora/llm";
import { strictSchema } from "@moora/llm/adapter";
import type { StrictRules } from "@moora/llm/adapter";

/** What OpenAI, and those who follow it, enforce with `strict: true`. */
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
 * The format of an answer: enforced where its schema can be strict, a wish where it cannot. Undefined for a schema whose
 * root is not an object, which no API of this kind takes.
 */
export function schemaToFormat(
  schema: JsonObject,
): { readonly name: string; readonly schema: Record<string, unknown>; readonly strict: boolean } | undefined {
  const isUnion = ["anyOf", "oneOf", "allOf", "$ref"].some((keyword) => keyword in schema);
  if (schema["type"] !== "object" || isUnion) return undefined;
  const strict = strictSchema(schema, openAiStrictRules);
  return { name: "answer", schema: { ...(strict ?? schema) }, strict: strict !== undefined };
}
