import type { Json, JsonObject } from "@moora/llm";

/** The messages in the body of a request. */
export const messagesIn = (body: JsonObject): readonly Json[] => {
  const { messages } = body;
  return Array.isArray(messages) ? messages : [];
};
