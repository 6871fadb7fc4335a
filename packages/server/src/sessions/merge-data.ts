import { canonicalJson, DataRefused } from "@moora/agent";
import { isSameJson, keysToPointer } from "@moora/agent/internal";
import type { DataOperation } from "@moora/agent-webui-protocol";

/** A value of JSON, or a place in it, in the versions of a merge; undefined where it does not exist. */
export interface MergedVersions {
  readonly now: unknown;
  readonly base: unknown;
  readonly posted: unknown;
  /** What it was between `base` and `now`; undefined if that is not known. */
  readonly later: readonly unknown[] | undefined;
}

/**
 * Merges the changes that lead from `base` to `posted` with those that others have made since `base`, which lead to `now`. An item of an
 * array is one place, and so is an array whose length was changed. A place that others have changed and changed back is a conflict: what was
 * posted may be their change. Throws `DataRefused` if only one of `posted` and `now` is an array.
 */
export function mergeData(versions: MergedVersions): Pick<Merge, "operations" | "conflicts"> {
  const { now, posted } = versions;
  if (Array.isArray(posted) !== Array.isArray(now))
    throw new DataRefused(`it must be ${Array.isArray(now) ? "an array" : "an object"}.`);
  const merge = new Merge();
  merge.value(versions, true);
  return merge;
}

class Merge {
  /** What has to be done to `now`. */
  readonly operations: DataOperation[] = [];
  /** The JSON Pointers of the places that both sides have changed to different values. The operations must not be used if there are any. */
  readonly conflicts: string[] = [];
  readonly #keys: string[] = [];

  /** Merges a place. `hasParts`: its fields or items are places of their own, where all versions have them. */
  value(versions: MergedVersions, hasParts: boolean): void {
    const { now, base, posted, later } = versions;
    if (isSameJson(base, posted) || isSameJson(now, posted)) return;
    if (hasParts && haveSameParts(now, base) && haveSameParts(now, posted)) return this.#parts(versions);
    const path = keysToPointer(this.#keys);
    if (later === undefined || ![now, ...later].every((other) => isSameJson(other, base)))
      this.conflicts.push(path);
    else if (posted === undefined) this.operations.push({ op: "remove", path });
    else if (path === "") this.#items(Object(now), Object(posted));
    else {
      const value = Array.isArray(now) && Array.isArray(posted) ? withItemsOf(now, posted) : posted;
      this.operations.push({ op: now === undefined ? "add" : "replace", path, value });
    }
  }

  /** No operation replaces the data as a whole. */
  #items(now: readonly unknown[], posted: readonly unknown[]): void {
    for (const index of [...now.keys()].toReversed())
      this.operations.push({ op: "remove", path: `/${index}` });
    for (const value of withItemsOf(now, posted)) this.operations.push({ op: "add", path: "/-", value });
  }

  #parts({ now, base, posted, later }: MergedVersions): void {
    const known = later?.map((other) => (haveSameParts(now, other) ? other : undefined));
    for (const key of new Set([base, posted].flatMap((value) => Object.keys(Object(value))))) {
      const [old, given] = [partOf(base, key), partOf(posted, key)];
      if (isSameJson(old, given)) continue;
      const part = { now: partOf(now, key), base: old, posted: given };
      this.#keys.push(key);
      // Another item may have this index now: what was changed within the former one is not merged into it.
      this.value({ ...part, later: known?.map((other) => partOf(other, key)) }, !Array.isArray(now));
      this.#keys.pop();
    }
  }
}

/** Whether two values are objects, or arrays of the same length. */
function haveSameParts(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length;
  return isObject(one) && isObject(other) && !Array.isArray(other);
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const partOf = (value: unknown, key: string): unknown =>
  Object.hasOwn(Object(value), key) ? Reflect.get(Object(value), key) : undefined;

/** The posted items. Those that the array has already stay the same, so that they are not recorded again. */
function withItemsOf(now: readonly unknown[], posted: readonly unknown[]): readonly unknown[] {
  const known = Map.groupBy(now, canonicalJson);
  return posted.map((item) => known.get(canonicalJson(item))?.shift() ?? item);
}
