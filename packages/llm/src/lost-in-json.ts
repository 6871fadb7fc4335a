import { lostNumber, lostNumberText } from "./json-numbers.ts";
import { repeatedKey, repeatedKeyText } from "./repeated-key.ts";

/** What `JSON.parse` would lose of a valid JSON text, as a sentence: a number that it changes, or the first value of a key; undefined if nothing. */
export function lostInJson(text: string): string | undefined {
  const lost = lostNumber(text);
  if (lost !== undefined) return lostNumberText(lost);
  const twice = repeatedKey(text);
  return twice === undefined ? undefined : repeatedKeyText(twice);
}
