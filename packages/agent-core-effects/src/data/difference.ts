import { keysToPointer, type DataPatch, type Json } from "@moora/agent-core-state-machine";
import {
  furtherKeyOf,
  jsonSize,
  maxJsonItems,
  type JsonSize,
} from "@moora/agent-core-state-machine/internal";
import { alignItems } from "./align-items.ts";
import { dataCopy } from "./data-copy.ts";
import { DataRefused } from "./data-refused.ts";

/** How a value differs from another one. */
export interface Difference {
  /**
   * The patches that lead from one value to the other. Each path but that of a removal leads, in the result, to what the patch
   * has put there.
   */
  readonly patches: DataPatch[];
  /** By how much the size has grown; negative if it has shrunk. */
  readonly growth: JsonSize;
}

/**
 * Returns how data differs from what a recipe has made of it. What the two share is not looked at, except that each item of an array
 * and each field of an object is compared where the array or object is not the same. Throws `DataRefused` for what is not JSON.
 */
export function differenceOf(before: Json, made: unknown): Difference {
  const comparison = new Comparison();
  try {
    comparison.compare(before, made);
  } catch (error) {
    if (error instanceof DataRefused) throw error;
    throw new DataRefused("The value throws when it is read.", { cause: error });
  }
  return comparison;
}

/** Up to this length an array is always checked for other properties than its items. */
const fewItems = 1_000;

type Fields = { readonly [key: string]: Json };

class Comparison implements Difference {
  readonly patches: DataPatch[] = [];
  readonly growth = { items: 0, length: 0 };
  /** The keys and indices that lead to what is compared. */
  readonly #path: (string | number)[] = [];

  compare(before: Json, after: unknown): void {
    if (isSame(before, after)) return;
    if (isArray(before)) {
      if (Array.isArray(after)) return this.#compareItems(before, after);
    } else if (typeof before === "object" && before !== null && isPlain(after))
      return this.#compareFields(before, after);
    this.#replace(before, after);
  }

  #compareItems(before: readonly Json[], after: readonly unknown[]): void {
    const edits = after.length > maxJsonItems ? undefined : alignItems(before, after, isSame);
    if (edits === undefined) return this.#replace(before, after);
    // In a long array it takes longer to look for one than to compare the items.
    const further = edits.length === 0 || after.length <= fewItems ? furtherKeyOf(after) : undefined;
    if (further !== undefined) dataCopy(after, this.#path);
    for (const { op, from, to } of edits) {
      this.#path.push(to);
      if (op === "pair") this.compare(before[from] ?? null, after[to]);
      else if (op === "add") this.#add(after[to]);
      else this.#remove(before[from] ?? null);
      this.#path.pop();
    }
  }

  #compareFields(before: Fields, after: Readonly<Record<string, unknown>>): void {
    const keys = Object.keys(after);
    const kept = keys.filter((key) => Object.hasOwn(before, key)).length;
    const keysBefore = Object.keys(before);
    if (kept === 0 && keys.length > 0 && keysBefore.length > 0) return this.#replace(before, after);
    if (kept < keysBefore.length) {
      for (const key of keysBefore)
        if (!Object.hasOwn(after, key)) this.#within(key, () => this.#remove(before[key] ?? null, key));
    }
    for (const key of keys) this.#compareField(before, after, key);
  }

  #compareField(before: Fields, after: Readonly<Record<string, unknown>>, key: string): void {
    const value = after[key];
    if (!Object.hasOwn(before, key)) return this.#addField(key, value);
    const old = before[key] ?? null;
    if (!isSame(old, value)) this.#within(key, () => this.compare(old, value));
  }

  #within(key: string, work: () => void): void {
    this.#path.push(key);
    work();
    this.#path.pop();
  }

  #replace(before: Json, after: unknown): void {
    const value = dataCopy(after, this.#path);
    this.#grow(jsonSize(value), 1);
    this.#grow(jsonSize(before), -1);
    this.patches.push({ op: "replace", path: keysToPointer(this.#path), value });
  }

  #add(after: unknown): void {
    const value = dataCopy(after, this.#path);
    this.#grow(jsonSize(value), 1);
    this.growth.items += 1;
    this.patches.push({ op: "add", path: keysToPointer(this.#path), value });
  }

  /** Adds a field. Its key is checked with it. */
  #addField(key: string, after: unknown): void {
    const fields = dataCopy({ [key]: after }, this.#path);
    this.#grow(jsonSize(fields), 1);
    const path = keysToPointer([...this.#path, key]);
    this.patches.push({ op: "add", path, value: Reflect.get(Object(fields), key) });
  }

  #remove(before: Json, key: string = ""): void {
    this.#grow(jsonSize(before), -1);
    this.#grow({ items: 1, length: key.length }, -1);
    this.patches.push({ op: "remove", path: keysToPointer(this.#path) });
  }

  #grow({ items, length }: JsonSize, sign: 1 | -1): void {
    this.growth.items += sign * items;
    this.growth.length += sign * length;
  }
}

/** Whether two values are the same: equal texts and numbers, or one array or object. -0 is not 0, because JSON has no -0. */
const isSame = (before: unknown, after: unknown): boolean =>
  before === after && (before !== 0 || Object.is(before, after));

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

/** Whether a value is an object that may be JSON. Others are refused where they are copied. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  return Object.getOwnPropertySymbols(value).length === 0;
}
