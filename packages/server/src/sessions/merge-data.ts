import { canonicalJson, DataRefused } from "@moora/agent";
import { isSameJson, keysToPointer } from "@moora/agent/internal";

/** A value of JSON in the versions of a merge; undefined where it does not exist. */
export interface MergedVersions {
  readonly now: unknown;
  readonly base: unknown;
  readonly posted: unknown;
  /** What it was between `base` and `now`; undefined if that is not known. */
  readonly later: readonly unknown[] | undefined;
}

export interface MergedData {
  /** The result. It shares with `now` what it does not change, and is `now` if it changes nothing. */
  readonly data: unknown;
  /** The JSON Pointers of the places that both sides have changed to different values. The result must not be used if there are any. */
  readonly conflicts: readonly string[];
}

/**
 * Makes the changes that lead from `base` to `posted` to `now`, which others may have changed since `base`. An item of an array is one
 * place, and so is an array whose length was changed. A place that others have changed and changed back is a conflict: what was posted
 * may be their change. Throws `DataRefused` if only one of `posted` and `now` is an array.
 */
export function mergeData(versions: MergedVersions): MergedData {
  const { now, posted } = versions;
  if (Array.isArray(posted) !== Array.isArray(now))
    throw new DataRefused(`it must be ${Array.isArray(now) ? "an array" : "an object"}.`);
  const merge = new Merge();
  return { data: merge.value(versions, true), conflicts: merge.conflicts };
}

/** Changes a draft of data to what a merge has made of it. */
export function writeMerged(draft: object, now: unknown, merged: unknown): void {
  for (const key of keysOf(now, merged)) {
    const value = partOf(merged, key);
    if (value === partOf(now, key)) continue;
    if (value === undefined) Reflect.deleteProperty(draft, key);
    else Reflect.set(draft, key, value);
  }
  if (Array.isArray(draft) && Array.isArray(merged)) draft.length = merged.length;
}

class Merge {
  readonly conflicts: string[] = [];
  readonly #path: string[] = [];

  /** Merges a place. `hasParts`: its fields or items are places of their own, where all versions have them. */
  value(versions: MergedVersions, hasParts: boolean): unknown {
    const { now, base, posted, later } = versions;
    if (isSameJson(base, posted) || isSameJson(now, posted)) return now;
    if (hasParts && haveSameParts(now, base) && haveSameParts(now, posted)) return this.#parts(versions);
    if (later !== undefined && [now, ...later].every((other) => isSameJson(other, base)))
      return Array.isArray(now) && Array.isArray(posted) ? withItemsOf(now, posted) : posted;
    this.conflicts.push(keysToPointer(this.#path));
    return now;
  }

  #parts({ now, base, posted, later }: MergedVersions): unknown {
    const known = later?.map((other) => (haveSameParts(now, other) ? other : undefined));
    const changed = new Map<string, unknown>();
    for (const key of keysOf(base, posted)) {
      const [old, given] = [partOf(base, key), partOf(posted, key)];
      if (isSameJson(old, given)) continue;
      // It is not a field like others.
      if (key === "__proto__") throw new DataRefused(`it has the key ${JSON.stringify(key)}.`);
      const before = partOf(now, key);
      const part = {
        now: before,
        base: old,
        posted: given,
        later: known?.map((other) => partOf(other, key)),
      };
      this.#path.push(key);
      // Another item may have this index now: what was changed within the former one is not merged into it.
      const value = this.value(part, !Array.isArray(now));
      this.#path.pop();
      if (value !== before) changed.set(key, value);
    }
    return changed.size === 0 ? now : withParts(now, changed);
  }
}

/** Whether two values are objects, or arrays of the same length. */
const haveSameParts = (one: unknown, other: unknown): boolean =>
  isContainer(one) &&
  isContainer(other) &&
  (Array.isArray(one) ? Array.isArray(other) && one.length === other.length : !Array.isArray(other));

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

const keysOf = (one: unknown, other: unknown): ReadonlySet<string> =>
  new Set([one, other].flatMap((value) => (isContainer(value) ? Object.keys(value) : [])));

const partOf = (value: unknown, key: string): unknown =>
  isContainer(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;

function withParts(now: unknown, changed: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(now))
    return now.map((item, index) => (changed.has(String(index)) ? changed.get(String(index)) : item));
  const fields = new Map([...Object.entries(Object(now)), ...changed]);
  return Object.fromEntries([...fields].filter(([, value]) => value !== undefined));
}

/** The posted items. Those that the array has already stay the same, so that they are not recorded again. */
function withItemsOf(now: readonly unknown[], posted: readonly unknown[]): readonly unknown[] {
  const known = Map.groupBy(now, canonicalJson);
  return posted.map((item) => known.get(canonicalJson(item))?.shift() ?? item);
}
