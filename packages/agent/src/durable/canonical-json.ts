export { isSameJson } from "@moora/agent-core-state-machine/internal";

/** JSON text with sorted keys: equal values have equal texts, whatever the order in which their fields were added. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return scalarToJson(value);
  return Array.isArray(value) ? listToJson(value) : isRecord(value) ? recordToJson(value) : "null";
}

function scalarToJson(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "boolean") return value ? "true" : "false";
  return JSON.stringify(value) ?? "null";
}

/** True for every object: a type predicate that makes its fields readable without a copy. */
const isRecord = (value: object): value is Readonly<Record<string, unknown>> => value !== null;

function listToJson(items: readonly unknown[]): string {
  let text = "[";
  for (const item of items) {
    if (text.length > 1) text += ",";
    text += canonicalJson(item);
  }
  return `${text}]`;
}

function recordToJson(record: Readonly<Record<string, unknown>>): string {
  let text = "{";
  for (const key of sortKeys(Object.keys(record))) {
    const field = record[key];
    if (field === undefined) continue;
    if (text.length > 1) text += ",";
    text += quotedKey(key) + canonicalJson(field);
  }
  return `${text}}`;
}

/** The number of keys whose JSON text is cached. Nearly all keys are field names of this library. */
const maxCachedKeys = 1_000;
const maxCachedLength = 64;

const quotedKeys = new Map<string, string>();

/** The JSON text of a key with its colon. */
function quotedKey(key: string): string {
  const cached = quotedKeys.get(key);
  if (cached !== undefined) return cached;
  const quoted = `${JSON.stringify(key)}:`;
  if (quotedKeys.size < maxCachedKeys && key.length <= maxCachedLength) quotedKeys.set(key, quoted);
  return quoted;
}

/** Up to this many keys, an insertion sort is faster than `toSorted`. */
const fewKeys = 24;

/** Sorts keys by code unit, independent of the locale. May sort in place. */
function sortKeys(keys: string[]): readonly string[] {
  if (keys.length > fewKeys) return keys.toSorted();
  for (let end = 1; end < keys.length; end += 1) {
    const key = keys[end] ?? "";
    let at = end;
    for (let before = keys[at - 1]; before !== undefined && before > key; before = keys[at - 1])
      keys[at--] = before;
    keys[at] = key;
  }
  return keys;
}
