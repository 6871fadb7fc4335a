import { isJsonObject, type JsonObject } from "./json.ts";
import type { LlmSettings } from "./request.ts";

/** The fields that a request makes, in the words of any API, by what to change instead. Options of providers cannot replace them. */
const madeFields: Readonly<Record<string, readonly string[]>> = {
  "Give config.settings.providerTools, which are offered beside the tools of the agent.": [
    "tools",
    "functions",
  ],
  "Give systemPrompt.": ["system", "instructions"],
  "They are computed from the conversation.": ["messages"],
  "It is computed from the conversation.": ["input", "previous_response_id", "conversation"],
  "Give config.models, or the model of the caller.": ["model"],
  "Give config.settings.maxOutputTokens.": ["max_tokens", "max_completion_tokens", "max_output_tokens"],
  "Give config.toolChoice.": ["tool_choice", "function_call"],
  "Give config.toolCalls.parallel.": ["parallel_tool_calls", "disable_parallel_tool_use"],
  "The agent reads one answer, streamed, with its usage.": [
    "stream",
    "stream_options",
    "n",
    "candidate_count",
  ],
};

/** What to change instead of a field that a request makes, in snake case or camel case; undefined for any other field. */
export function madeFieldHint(field: string): string | undefined {
  const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.keys(madeFields).find((hint) => madeFields[hint]?.includes(name));
}

/** The options of a provider without the fields that a request makes, with a warning for each of those. */
export function providerFields(options: JsonObject, warn: (text: string) => void): JsonObject {
  const isFree = ([field]: readonly [string, unknown]): boolean => {
    if (madeFieldHint(field) === undefined) return true;
    warn(`providerOptions: ${field} was left out: the request makes it`);
    return false;
  };
  return Object.fromEntries(Object.entries(options).filter(isFree));
}

/** A body with the options of a caller. Where both have an object, its fields are joined, and those of the body are kept. */
export function withProviderFields<Body extends object>(
  body: Body,
  { providerOptions = {} }: LlmSettings,
  caller: string,
  warn: (text: string) => void,
): Body {
  const made = new Map<string, unknown>(Object.entries(body));
  const joined = Object.entries(providerFields(providerOptions[caller] ?? {}, warn)).map(([field, value]) => {
    const own = made.get(field);
    return [field, isJsonObject(own) && isJsonObject(value) ? { ...value, ...own } : value] as const;
  });
  return { ...body, ...Object.fromEntries(joined) };
}
