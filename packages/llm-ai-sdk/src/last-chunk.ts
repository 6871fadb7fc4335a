import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/adapter";

const lastTypes: readonly unknown[] = [
  "message_stop",
  "response.completed",
  "response.failed",
  "response.incomplete",
];

/**
 * Whether a raw chunk of a provider completes the content of its answer. The model of the AI SDK finishes an answer only
 * when the connection ends, and some servers leave it open. Usage may follow.
 */
export function isLastChunk(chunk: unknown): boolean {
  if (!isJsonObject(chunk)) return false;
  const { type, choices, candidates, messageStop } = chunk;
  return (
    lastTypes.includes(type) ||
    isJsonObject(messageStop) ||
    typeof firstOf(choices)?.["finish_reason"] === "string" ||
    isFinal(firstOf(candidates)?.["finishReason"])
  );
}

const firstOf = (list: Json | undefined): JsonObject | undefined => {
  const [first] = Array.isArray(list) ? list : [];
  return isJsonObject(first) ? first : undefined;
};

/** An answer of Gemini that is continued by another request is not complete. */
const isFinal = (reason: Json | undefined): boolean =>
  typeof reason === "string" && reason !== "CONTINUATION";
