import { applyPatches, type Json } from "@moora/agent-core-state-machine";
import {
  jsonSize,
  keepResult,
  maxJsonItems,
  maxJsonLength,
  type JsonSize,
} from "@moora/agent-core-state-machine/internal";
import { Immer } from "immer";
import { isPromise } from "../is-promise.ts";
import { dataCopy } from "./data-copy.ts";
import { DataRefused } from "./data-refused.ts";
import type { DataChange } from "./define-data.ts";
import { differenceOf, type Difference } from "./difference.ts";
import { patchesFit, type SchemaPart } from "./schema-part.ts";

/** Runs recipes on data of one schema, and checks what they have changed. */
export class RecipeRunner {
  readonly #checkFits: (data: Json) => void;
  readonly #schema: SchemaPart | undefined;
  /** The sizes of data that fits the schema. Of other data it is not known whether it fits. */
  readonly #sizes = new WeakMap<object, JsonSize>();

  /** `checkFits` throws for data that does not fit. `schema` is undefined for one that can only check the whole. */
  constructor(checkFits: (data: Json) => void, schema: SchemaPart | undefined) {
    this.#checkFits = checkFits;
    this.#schema = schema;
  }

  /** The change of a recipe. Throws what the recipe throws, and `DataRefused`. */
  change(data: Json, recipe: (draft: unknown) => void): DataChange {
    const before = withoutFrozenArrays(data);
    const made: unknown = immer.produce(before, (draft) => checkSynchronous(recipe(draft)));
    const difference = differenceOf(before, made);
    const { patches } = difference;
    const changed = applyPatches(data, patches);
    if (changed === undefined) throw new DataRefused("it has too many levels.");
    this.#check(data, changed, difference);
    keepResult(data, patches, changed);
    return { data: changed, patches };
  }

  #check(before: Json, data: Json, difference: Difference): void {
    const size = this.#sizeAfter(before, difference);
    if (size === undefined || !this.#fitsAfter(data, difference, size)) {
      dataCopy(data);
      this.#checkFits(data);
    }
    if (typeof data === "object" && data !== null) this.#sizes.set(data, size ?? jsonSize(data));
  }

  #sizeAfter(before: Json, { growth }: Difference): JsonSize | undefined {
    const size = typeof before === "object" && before !== null ? this.#sizes.get(before) : undefined;
    return size && { items: size.items + growth.items, length: size.length + growth.length };
  }

  /** Whether data that fitted fits after patches. False also means: the whole has to be checked. */
  #fitsAfter(data: Json, { patches }: Difference, { items, length }: JsonSize): boolean {
    if (patches.length === 0) return true;
    if (this.#schema === undefined || items > maxJsonItems || length > maxJsonLength) return false;
    // Checking very many parts takes longer than checking the whole.
    return patches.length <= 16 + items / 16 && patchesFit(this.#schema, data, patches);
  }
}

/** Without freezing: the reducer freezes what it makes of the patches. */
const immer = /* @__PURE__ */ new Immer({ autoFreeze: false });

function checkSynchronous(result: unknown): void {
  if (!isPromise(result)) return;
  result.catch(() => undefined);
  throw new DataRefused("a recipe must be synchronous, and this one returned a promise.");
}

/** An array of so many items takes longer to copy when it is frozen. */
const longLength = 256;
/** More fields are not looked at for long arrays. */
const fewFields = 64;

/**
 * The same data with copies of long arrays that are the data, or fields of it. Immer copies arrays with `slice`, which takes a frozen
 * one item by item, 20 times as long as a spread.
 */
function withoutFrozenArrays(data: Json): Json {
  if (typeof data !== "object" || data === null) return data;
  if (isArray(data)) return thawed(data);
  const entries = Object.entries(data);
  if (
    entries.length > fewFields ||
    !entries.some(([, field]) => isArray(field) && field.length >= longLength)
  )
    return data;
  return Object.fromEntries(entries.map(([key, field]) => [key, isArray(field) ? thawed(field) : field]));
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

const thawed = (items: readonly Json[]): readonly Json[] => (items.length < longLength ? items : [...items]);
