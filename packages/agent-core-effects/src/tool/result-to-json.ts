import { maxJsonItems } from "@moora/agent-core-state-machine/internal";
import { errorText } from "../error-text.ts";
import { truncated } from "../truncate.ts";
import { foreignKind, toJsonOf, type ForeignKind } from "./foreign-kind.ts";

/** The maximum depth of nested objects and arrays in a result. */
const maxDepth = 512;

/** The JSON text of a result, or a problem: the kind of the value, its path, and what to return instead. */
export type ResultJson =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string; readonly code: "not-json" | "too-large" };

/**
 * Converts the result of a tool to JSON text. Like `JSON.stringify`, it calls `toJSON`, and leaves out undefined fields. Unlike it,
 * it refuses values that would silently become `{}` or null: undefined items, functions, symbols, NaN, maps, sets, responses, errors,
 * streams and other instances without `toJSON`. Results with more than `maxJsonItems` keys and items are refused as well.
 */
export function resultToJson(value: unknown): ResultJson {
  const walk: Walk = { items: 0, path: [], within: new Set() };
  try {
    return { ok: true, text: textOf(value, walk) ?? "null" };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, problem: error.message, code: error.code };
    const kind = `a value that throws when it is read (${truncated(errorText(error), 200)})`;
    return { ok: false, problem: problemAt(walk.path, { kind, fix: "return plain data" }), code: "not-json" };
  }
}

interface Walk {
  items: number;
  readonly path: (string | number)[];
  readonly within: Set<object>;
}

/** Thrown and caught in this file only, to leave a recursive walk. */
class Refused extends Error {
  readonly code: "not-json" | "too-large";
  constructor(path: Walk["path"], foreign: ForeignKind, code: "not-json" | "too-large") {
    super(problemAt(path, foreign));
    this.code = code;
  }
}

const refuse = (walk: Walk, foreign: ForeignKind, code: "not-json" | "too-large" = "not-json"): never => {
  throw new Refused(walk.path, foreign, code);
};

/** The JSON text of a value; undefined for undefined, which JSON leaves out. */
function textOf(value: unknown, walk: Walk): string | undefined {
  const foreign = foreignKind(value);
  if (foreign !== undefined) return refuse(walk, foreign);
  const toJson = toJsonOf(value);
  if (toJson === undefined) return dataText(value, walk);
  const data = toJson(String(walk.path.at(-1) ?? ""));
  // As in `JSON.stringify`, the `toJSON` of the returned value is not called.
  const foreignData = foreignKind(data);
  return foreignData === undefined ? dataText(data, walk) : refuse(walk, foreignData);
}

function dataText(value: unknown, walk: Walk): string | undefined {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (walk.path.length >= maxDepth)
    refuse(walk, { kind: `more than ${maxDepth} levels`, fix: "return a flatter value" }, "too-large");
  if (walk.within.has(value))
    refuse(walk, { kind: "an object that contains itself", fix: "return it without the circular reference" });
  walk.within.add(value);
  const text = Array.isArray(value) ? arrayText(value, walk) : objectText(value, walk);
  walk.within.delete(value);
  return text;
}

function arrayText(items: readonly unknown[], walk: Walk): string {
  count(items.length, walk);
  const texts: string[] = [];
  for (let index = 0; index < items.length; index += 1) texts.push(fieldText(items, index, walk) ?? "");
  return `[${texts.join(",")}]`;
}

function objectText(value: object, walk: Walk): string {
  const keys = Object.keys(value);
  count(keys.length, walk);
  const fields: string[] = [];
  for (const key of keys) {
    const text = fieldText(value, key, walk);
    if (text !== undefined) fields.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${fields.join(",")}}`;
}

function fieldText(owner: object, key: string | number, walk: Walk): string | undefined {
  walk.path.push(key);
  const text = textOf(Reflect.get(owner, key), walk);
  if (text === undefined && typeof key === "number")
    refuse(walk, { kind: "undefined", fix: "return null or leave the item out" });
  walk.path.pop();
  return text;
}

function count(items: number, walk: Walk): void {
  walk.items += items;
  if (walk.items <= maxJsonItems) return;
  const kind = `more than ${maxJsonItems} keys and items`;
  refuse(walk, { kind, fix: "return a part of it or a summary" }, "too-large");
}

/** `a Response at $.body; return await response.json() or text`. */
const problemAt = (path: Walk["path"], { kind, fix }: ForeignKind): string =>
  `${kind}${path.length === 0 ? "" : ` at ${pathText(path)}`}; ${fix}`;

/** Converts `["rows", 0, "a b"]` to `$.rows[0]["a b"]`, with at most 20 steps of 40 characters. */
const pathText = (path: Walk["path"]): string =>
  `$${path.slice(0, 20).map(stepText).join("")}${path.length > 20 ? "..." : ""}`;

function stepText(step: string | number): string {
  if (typeof step === "number") return `[${step}]`;
  const key = truncated(step, 40);
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
