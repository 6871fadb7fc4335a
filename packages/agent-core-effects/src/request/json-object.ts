import type { JsonObject } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";

/** The object that a JSON text contains; undefined for any other text. */
export function jsonObjectOf(text: string): JsonObject | undefined {
  const value = textToJson(text);
  return isJsonObject(value) ? value : undefined;
}
