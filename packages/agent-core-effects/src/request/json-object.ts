import type { JsonObject } from "@moora/llm";

/** The object that a JSON text says, or undefined where it says anything else. */
export function jsonObjectOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** For what `JSON.parse` gave: there an object is either an array or a JSON object. */
const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
