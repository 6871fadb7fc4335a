import type { Json } from "@moora/agent-webui-protocol";

/** Why a value is refused. `path` names the field, such as `turn.parts[0].text`; empty for the value itself. */
export interface JsonProblem {
  readonly code: "not-json" | "ill-formed-string" | "hostile-key" | "cyclic" | "too-deep" | "too-large";
  readonly path: string;
  readonly message: string;
}

/** The maximum depth of nested arrays and objects. */
export const maxJsonDepth = 128;

/** The maximum number of characters of one value, in all its strings and keys. */
export const maxJsonLength = 16_000_000;

/** The maximum number of keys and array items of one value. More would block the event loop. */
export const maxJsonItems = 100_000;

/** Thrown and caught in this file only, to leave a recursive walk. */
class Refused extends Error {
  readonly problem: JsonProblem;
  constructor(problem: JsonProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/**
 * A deep copy of a value that JSON represents exactly, or the first problem. Problems are undefined, NaN, -0, functions,
 * symbols, class instances, arrays with other properties than their items, cycles, lone surrogates, a `__proto__` key, and more than `maxJsonDepth`, `maxJsonLength` or
 * `maxItems` (default: `maxJsonItems`).
 */
export function jsonCopy(
  value: unknown,
  maxItems: number = maxJsonItems,
): { readonly copy: Json } | { readonly problem: JsonProblem } {
  try {
    return { copy: copied(value, [], { length: 0, items: 0, maxItems, within: new Set() }) };
  } catch (error) {
    if (error instanceof Refused) return { problem: error.problem };
    return { problem: { code: "not-json", path: "", message: "The value throws when it is read." } };
  }
}

/** Whether `jsonCopy` would accept a value that `JSON.parse` returned, apart from its size. Makes no copy. */
export function isStorable(value: unknown, depth: number = maxJsonDepth): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isStorable(item, depth - 1));
  for (const [key, field] of Object.entries(value))
    if (key === "__proto__" || !key.isWellFormed() || !isStorable(field, depth - 1)) return false;
  return true;
}

/** Whether two values of JSON are equal. The order of fields does not matter; an undefined field equals a missing one. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b || typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isSameJson(item, b[index]));
  }
  for (const key of Object.keys(a)) if (!isSameJson(Reflect.get(a, key), ownField(b, key))) return false;
  return Object.keys(b).every((key) => Object.hasOwn(a, key) || Reflect.get(b, key) === undefined);
}

/** An own field of an object; undefined for an inherited one, which JSON does not contain. */
const ownField = (fields: object, key: string): unknown =>
  Object.hasOwn(fields, key) ? Reflect.get(fields, key) : undefined;

interface Walk {
  length: number;
  items: number;
  readonly maxItems: number;
  readonly within: Set<object>;
}

type Path = PropertyKey[];

function copied(value: unknown, path: Path, walk: Walk): Json {
  switch (typeof value) {
    case "string":
      return text(value, path, walk);
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return refuse("not-json", path, `JSON does not keep ${Object.is(value, -0) ? "-0" : String(value)}.`);
    case "object":
      return value === null ? null : container(value, path, walk);
    case "undefined":
    case "function":
    case "symbol":
    case "bigint":
      return refuse("not-json", path, `JSON does not keep a value of type ${typeof value}.`);
  }
}

function container(value: object, path: Path, walk: Walk): Json {
  if (path.length >= maxJsonDepth) refuse("too-deep", path, `Deeper than ${maxJsonDepth} levels.`);
  if (walk.within.has(value)) refuse("cyclic", path, "The value contains itself.");
  walk.within.add(value);
  const copy = Array.isArray(value) ? arrayCopy(value, path, walk) : objectCopy(value, path, walk);
  walk.within.delete(value);
  return copy;
}

function arrayCopy(value: readonly unknown[], path: Path, walk: Walk): Json {
  count(value.length, path, walk);
  const keys = Object.keys(value);
  const further = keys.length > value.length ? keys.at(-1) : Object.getOwnPropertySymbols(value)[0];
  if (further !== undefined) refuse("not-json", [...path, further], "JSON keeps only the items of an array.");
  const copy: Json[] = [];
  for (let index = 0; index < value.length; index += 1) {
    path.push(index);
    copy.push(copied(value[index], path, walk));
    path.pop();
  }
  return copy;
}

function objectCopy(value: object, path: Path, walk: Walk): Json {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    refuse("not-json", path, "Only plain objects and arrays are JSON.");
  if (Object.getOwnPropertySymbols(value).length > 0)
    refuse("not-json", path, "JSON does not keep a symbol as key.");
  const keys = Object.keys(value);
  count(keys.length, path, walk);
  const copy: { [key: string]: Json } = {};
  for (const key of keys) {
    path.push(key);
    if (key === "__proto__") refuse("hostile-key", path, "This key would change an object's prototype.");
    text(key, path, walk);
    copy[key] = copied(Reflect.get(value, key), path, walk);
    path.pop();
  }
  return copy;
}

function count(items: number, path: Path, walk: Walk): void {
  walk.items += items;
  if (walk.items > walk.maxItems)
    refuse("too-large", path, `More than ${walk.maxItems} keys and items in all.`);
}

function text(value: string, path: Path, walk: Walk): string {
  walk.length += value.length;
  if (walk.length > maxJsonLength)
    refuse("too-large", path, `Longer than ${maxJsonLength} characters in all.`);
  if (!value.isWellFormed()) refuse("ill-formed-string", path, "The text has a lone surrogate.");
  return value;
}

function refuse(code: JsonProblem["code"], path: readonly PropertyKey[], message: string): never {
  throw new Refused({ code, path: pathToText(path), message });
}

/** Converts `["turn", "parts", 0]` to `turn.parts[0]`. Keys are cut to 40 characters, and paths to 20 of them. */
export function pathToText(path: readonly PropertyKey[]): string {
  return path
    .slice(0, 20)
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      const key = String(part).slice(0, 40);
      return index === 0 ? key : `.${key}`;
    })
    .join("");
}
