/** The kind of a value that is not JSON, such as `a Map`, and the fix: what to return instead. */
export interface ForeignKind {
  readonly kind: string;
  readonly fix: string;
}

/** The `toJSON` method of a value; undefined if it has none. */
export function toJsonOf(value: unknown): ((key: string) => unknown) | undefined {
  const isOwner = (typeof value === "object" && value !== null) || typeof value === "bigint";
  const method: unknown = isOwner ? Reflect.get(Object(value), "toJSON") : undefined;
  return typeof method === "function" ? (key) => Reflect.apply(method, value, [key]) : undefined;
}

/** The kind of a value that is not JSON; undefined for a JSON value. Does not check fields and items. */
export function foreignKind(value: unknown): ForeignKind | undefined {
  switch (typeof value) {
    case "number":
      if (Number.isFinite(value)) return undefined;
      return { kind: String(value), fix: "return a finite number or null" };
    case "bigint":
      return toJsonOf(value) ? undefined : { kind: "a bigint", fix: "return String(value)" };
    case "function":
      return { kind: "a function", fix: "return data" };
    case "symbol":
      return { kind: "a symbol", fix: "return a string" };
    case "object":
      return value === null ? undefined : foreignObject(value);
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
  }
}

function foreignObject(value: object): ForeignKind | undefined {
  // The tag instead of `instanceof`: an object may come from another realm, such as the sandbox of a test runner.
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  const isView = ArrayBuffer.isView(value);
  const fix = isView ? fixes["ArrayBuffer"] : Object.hasOwn(fixes, tag) ? fixes[tag] : undefined;
  if (fix !== undefined)
    return { kind: withArticle(isView ? (nameOf(value) ?? tag) : (names[tag] ?? tag)), fix };
  if ("then" in value && typeof value.then === "function")
    return { kind: "an object with a then method", fix: "await it" };
  if (tag === "Date" && Number.isNaN(Number(value)))
    return { kind: "an invalid Date", fix: "return a valid date or null" };
  if (toJsonOf(value) !== undefined || Array.isArray(value) || isPlain(value)) return undefined;
  return { kind: instanceOf(value, tag), fix: "return a plain object or give it a toJSON method" };
}

const errorFix = "throw it or return its message";
const collectFix = "collect what it yields and return an array or text";
const bodyFix = "return its fields";
const bytesFix = "return text, an array of numbers or a file with toolReply";
const readFix = "read it and return text";

/** The fixes for well-known objects, by their tags. Their `toJSON` is not used. */
const fixes: Readonly<Record<string, string>> = {
  Error: errorFix,
  DOMException: errorFix,
  Map: "return Object.fromEntries(map)",
  Set: "return [...set]",
  Promise: "await it, for a list with Promise.all",
  Response: "return await response.json() or text",
  Request: bodyFix,
  Headers: "return Object.fromEntries(headers)",
  FormData: "return Object.fromEntries(form)",
  URLSearchParams: "return String(parameters)",
  Generator: collectFix,
  AsyncGenerator: collectFix,
  "Array Iterator": collectFix,
  "Map Iterator": collectFix,
  "Set Iterator": collectFix,
  "Iterator Helper": collectFix,
  ReadableStream: readFix,
  Blob: readFix,
  File: readFix,
  ArrayBuffer: bytesFix,
  SharedArrayBuffer: bytesFix,
};

const names: Readonly<Record<string, string>> = {
  Generator: "generator",
  AsyncGenerator: "async generator",
  "Array Iterator": "iterator",
  "Map Iterator": "iterator",
  "Set Iterator": "iterator",
  "Iterator Helper": "iterator",
};

const instanceOf = (value: object, tag: string): string => {
  const name = nameOf(value);
  if (name === undefined) return "an object with a prototype of its own";
  return tag === name ? withArticle(name) : `an instance of ${name}`;
};

const withArticle = (name: string): string => `${/^[aeio]/i.test(name) ? "an" : "a"} ${name}`;

/** The name of the class of an object. */
function nameOf(value: object): string | undefined {
  const made: unknown = Reflect.get(value, "constructor");
  return typeof made === "function" && made.name !== "" ? made.name.slice(0, 60) : undefined;
}

/** Whether an object is plain: its prototype is null or, in any realm, the prototype of `{}`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
