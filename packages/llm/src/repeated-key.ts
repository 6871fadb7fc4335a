import { endOfJsonString } from "./json.ts";

/** A key that stands twice in an object of a JSON text, and where it stands again. */
export interface RepeatedKey {
  readonly key: string;
  readonly offset: number;
}

/** The first duplicate key of an object in this valid JSON text. `JSON.parse` would silently keep the last value. */
export function repeatedKey(text: string): RepeatedKey | undefined {
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

/** The message about such a key. */
export const repeatedKeyText = ({ key, offset }: RepeatedKey): string =>
  `The key ${JSON.stringify(key.slice(0, 100).toWellFormed())} stands twice, at offset ${offset}.`;
