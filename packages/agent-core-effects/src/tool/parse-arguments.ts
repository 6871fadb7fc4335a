import { isStorable, jsonCopy, maxJsonItems, maxJsonLength } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import { hasMoreItemsThan, isJsonObject, lostInJson } from "@moora/llm/internal";
import { errorText } from "../error-text.ts";
import { truncatedToBytes } from "../truncate.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses the arguments of a call strictly: one JSON object without duplicate keys, with at most `maxJsonItems` keys and
 * items. A blank text counts as an empty object.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {} };
  // Count before parsing: parsing a million keys blocks the event loop.
  if (hasMoreItemsThan(text, maxJsonItems))
    return wrong(`The arguments have more than ${maxJsonItems} keys and items.`, text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return wrong(`The arguments are not valid JSON: ${errorText(error)}.`, text);
  }
  // The copy is only made for its problem.
  const copied = text.length <= maxJsonLength && isStorable(value) ? undefined : jsonCopy(value);
  if (copied !== undefined && "problem" in copied)
    return wrong(`The arguments cannot be used: ${copied.problem.message}`, text);
  const lost = lostInJson(text);
  if (lost !== undefined) return wrong(lost, text);
  return isJsonObject(value) ? { ok: true, value } : wrong("The arguments are not a JSON object.", text);
}

/**
 * The problem with a quote of the arguments: later requests contain the call with `{}`, so that the model could not see
 * what it had sent. At most two kilobytes.
 */
const wrong = (problem: string, text: string): ParsedArguments => ({
  ok: false,
  problem: `${truncatedToBytes(problem, 400)} You sent: ${truncatedToBytes(text, 1_400)}`.toWellFormed(),
});
