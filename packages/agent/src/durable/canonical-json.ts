/** JSON text with the keys of every object in order: the same value, the same text, however it was put together. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  return Array.isArray(value) ? listToJson(value) : isRecord(value) ? recordToJson(value) : "null";
}

/** Every object is one; said so, its fields can be read without a copy. */
const isRecord = (value: object): value is Readonly<Record<string, unknown>> => value !== null;

/** Whether two values of JSON are the same, in whatever order their fields stand; undefined is as good as missing. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (!isRecord(a) || !isRecord(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isSameJson(ownField(a, key), ownField(b, key)));
}

/** A field that JSON would write: none that every object has. */
const ownField = (record: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined;

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
  for (const key of inOrder(Object.keys(record))) {
    const field = record[key];
    if (field === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `${text}}`;
}

/** So few keys are sorted sooner by hand. */
const fewKeys = 24;

/** Sorts keys by code unit, in place: no locale decides. */
function inOrder(keys: string[]): readonly string[] {
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
