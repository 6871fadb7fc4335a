/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is an object with fields, and not an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same for a value of JSON. */
export const isJsonObject = (value: unknown): value is JsonObject => isObject(value);

/** The value of a JSON text; undefined for a text that is not JSON. */
export function textToJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether a JSON text has more keys and items, in all of its objects and arrays together, than a limit. The text is not
 * parsed, and is read only until the limit is exceeded. For a text that is not JSON, the result has no meaning.
 */
export function hasMoreItemsThan(text: string, limit: number): boolean {
  // Each item takes at least two characters.
  if (text.length <= limit * 2) return false;
  let items = 0;
  let isOpening = false;
  for (let offset = 0; offset < text.length && items <= limit; offset += 1) {
    const character = text.charAt(offset);
    if (character <= " ") continue;
    // Any character after an opening bracket, except the closing one, starts the first item.
    if (isOpening && character !== "}" && character !== "]") items += 1;
    if (character === ",") items += 1;
    isOpening = character === "{" || character === "[";
    if (character === '"') offset = endOfJsonString(text, offset) - 1;
  }
  return items > limit;
}

/** The offset after the string that starts at `start` in a JSON text: after the first quote that no backslash escapes. */
export function endOfJsonString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** How many keys and items the arguments of one call may have; more would block the event loop. */
export const maxArgumentItems = 100_000;

const maxDepth = 512;

/** Whether a value has more than 512 levels, which could exceed the stack or the limits of a provider. */
export function isTooDeep(value: Json): boolean {
  let level = containersIn([value]);
  for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1)
    level = level.flatMap((container) => containersIn(Object.values(container)));

  return level.length > 0;
}

const containersIn = (values: readonly Json[]): readonly object[] =>
  values.filter((value) => typeof value === "object" && value !== null);

/** Copies a value with every lone surrogate replaced by U+FFFD: providers reject text that is not well-formed. */
export const withWellFormedText = <Value>(value: Value): Value =>
  // The value keeps its shape: only the characters of its strings may change.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  repair(value) as Value;

function repair(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repair);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key.toWellFormed(), repair(field)]));
}

/** Copies the fields of an object that was parsed from JSON, except those in `without`. Lone surrogates are replaced. */
export function fieldsOf(value: object, ...without: readonly string[]): JsonObject {
  const json = textToJson(JSON.stringify(value));
  if (!isJsonObject(json)) return {};
  return withWellFormedText(
    Object.fromEntries(Object.entries(json).filter(([name]) => !without.includes(name))),
  );
}

type Defined<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** Copies an object without the fields that are undefined. */
export const defined = <Fields extends object>(fields: Fields): Defined<Fields> =>
  // The type of `fromEntries` does not reflect the filter.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
