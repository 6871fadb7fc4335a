import { isJsonObject, type JsonObject } from "./json.ts";
import type { LlmSettings } from "./request.ts";

/** The fields that a request makes, in the words of any API, by what they are made of. Options of providers cannot replace them. */
const madeFields: readonly (readonly [MadeOf, string])[] = [
  ["tools", "tools functions"],
  ["systemPrompt", "system instructions"],
  ["messages", "messages"],
  ["input", "input previous_response_id conversation"],
  ["models", "model"],
  ["maxOutputTokens", "max_tokens max_completion_tokens max_output_tokens"],
  ["toolChoice", "tool_choice function_call"],
  ["parallel", "parallel_tool_calls disable_parallel_tool_use"],
  ["stream", "stream stream_options n candidate_count"],
];

/** What a field of a request is made of. */
export type MadeOf =
  | "tools"
  | "systemPrompt"
  | "messages"
  | "input"
  | "models"
  | "maxOutputTokens"
  | "toolChoice"
  | "parallel"
  | "stream";

/** What a field of a request is made of, in snake case or camel case; undefined for any other field. */
export function madeOf(field: string): MadeOf | undefined {
  const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return madeFields.find(([, names]) => names.split(" ").includes(name))?.[0];
}

/** The options of a provider without the fields that a request makes, with a warning for each of those. */
export function providerFields(options: JsonObject, warn: (text: string) => void): JsonObject {
  const isFree = ([field]: readonly [string, unknown]): boolean => {
    if (madeOf(field) === undefined) return true;
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
