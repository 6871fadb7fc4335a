import { isStorable, jsonCopy, maxJsonItems, maxJsonLength } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import {
  endOfJsonString,
  hasMoreItemsThan,
  isJsonObject,
  lostNumber,
  lostNumberText,
} from "@moora/llm/internal";
import { errorText } from "../error-text.ts";
import { truncated, truncatedToBytes } from "../truncate.ts";

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
  const lost = lostNumber(text);
  if (lost !== undefined) return wrong(lostNumberText(lost), text);
  if (!isJsonObject(value)) return wrong("The arguments are not a JSON object.", text);
  const twice = repeatedKey(text);
  return twice === undefined
    ? { ok: true, value }
    : wrong(
        `The key ${JSON.stringify(truncated(twice.key, 100))} stands twice, at offset ${twice.offset}.`,
        text,
      );
}

/**
 * The problem with a quote of the arguments: later requests contain the call with `{}`, so that the model could not see
 * what it had sent. At most two kilobytes.
 */
const wrong = (problem: string, text: string): ParsedArguments => ({
  ok: false,
  problem: `${truncatedToBytes(problem, 400)} You sent: ${truncatedToBytes(text, 1_400)}`.toWellFormed(),
});

/** The first duplicate key of an object in this valid JSON text. `JSON.parse` would silently keep the last value. */
function repeatedKey(text: string): { readonly key: string; readonly offset: number } | undefined {
  const objects: (Set<string> | undefined)[] = [];
  for (let offset = 0; offset < text.length; offset += 1) {
    const character = text[offset];
    if (character === "{") objects.push(new Set());
    else if (character === "[") objects.push(undefined);
    else if (character === "}" || character === "]") objects.pop();
    if (character !== '"') continue;
    const end = endOfJsonString(text, offset);
    const keys = isKey(text, end) ? objects.at(-1) : undefined;
    if (keys !== undefined) {
      const key = keyAt(text, offset, end);
      if (keys.has(key)) return { key, offset };
      keys.add(key);
    }
    offset = end - 1;
  }
  return undefined;
}

function keyAt(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end - 1);
  return key.includes("\\") ? String(JSON.parse(text.slice(start, end))) : key;
}

/** Whether a string that ends at `end` is a key: a colon follows it, after white space. */
function isKey(text: string, end: number): boolean {
  let next = end;
  while (text.charCodeAt(next) <= 32) next += 1;
  return text[next] === ":";
}
