import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { Json, JsonObject } from "@moora/llm";
import {
  chatRequestProblem,
  mistralRules,
  serverSentEvent,
  type ScriptedAnswer,
  type ServerDialect,
  type ServerEvent,
} from "@moora/llm/testing";
import { chatDialect } from "../openai/chat-dialect.ts";

const chat = chatDialect();

/** The Chat Completions API of Mistral: reasoning is content, and the last chunk contains the usage. */
export const mistralDialect: ServerDialect = {
  ...chat,
  requestProblem: (body) =>
    chatRequestProblem(body, {
      ...mistralRules,
      knownParameters: [...(mistralRules.knownParameters ?? []), "prompt_cache_key"],
    }),
  events: answerToEvents,
};

function answerToEvents(
  answer: ScriptedAnswer,
  body: JsonObject,
  issue: (token: string) => string,
): ServerEvent[] {
  const events = chat.events(answer, body, issue);
  const usage = events.map(chunkOf).findLast((chunk) => isJsonObject(chunk?.["usage"]))?.["usage"] ?? null;
  return events.flatMap((event) => {
    const chunk = chunkOf(event);
    if (chunk === undefined) return [event];
    if (firstOf(chunk["choices"]) === undefined) return [];
    const mistral = { ...withThinking(chunk), ...(event.isLast === true && { usage }) };
    return [{ ...event, text: serverSentEvent(undefined, mistral) }];
  });
}

/** The chunk of an event; undefined for the event that ends the stream. */
function chunkOf({ text }: ServerEvent): JsonObject | undefined {
  const chunk = textToJson(text.replace(/^data: /, ""));
  return isJsonObject(chunk) ? chunk : undefined;
}

const firstOf = (list: Json | undefined): Json | undefined => (Array.isArray(list) ? list[0] : undefined);

function withThinking(chunk: JsonObject): JsonObject {
  const choice = firstOf(chunk["choices"]);
  const delta = isJsonObject(choice) ? choice["delta"] : undefined;
  if (!isJsonObject(choice) || !isJsonObject(delta) || typeof delta["reasoning_content"] !== "string")
    return chunk;
  const thinking = [{ type: "text", text: delta["reasoning_content"] }];
  return { ...chunk, choices: [{ ...choice, delta: { content: [{ type: "thinking", thinking }] } }] };
}
