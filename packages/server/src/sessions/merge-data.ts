import { canonicalJson, DataRefused } from "@moora/agent";
import { isSameJson, keysToPointer } from "@moora/agent/internal";

type Fields = Record<string, unknown>;

/** What the data was since the base of a merge. */
export interface MergeHistory {
  readonly later?: readonly unknown[];
  /** What it was from the beginning to the end of a run. */
  readonly inRun?: readonly unknown[];
}

/**
 * Makes the changes that lead from `base` to `posted` to a draft, which others may have changed since `base`. All three are
 * arrays or objects of JSON. Returns the JSON Pointers of the places that both have changed to different values; the draft must not
 * be used if there are any. An array into which one side has inserted items, or from which it has removed some, is one place.
 * A place that others have changed and changed back since `base`, as `later` shows, is one of them: what was posted may be their change.
 * A place is not changed either if `posted` has there what it was in a whole run, as `inRun` shows: the client was sent it.
 * Throws `DataRefused` if `posted` is an object and the draft an array, or the other way round.
 */
export function mergeData(
  draft: object,
  base: object,
  posted: object,
  { later = [], inRun = [] }: MergeHistory = {},
): readonly string[] {
  if (Array.isArray(posted) !== Array.isArray(draft))
    throw new DataRefused(`it must be ${Array.isArray(draft) ? "an array" : "an object"}.`);
  const merge = new Merge();
  merge.value({ now: draft, base, posted, later, inRun }, () => undefined);
  return merge.conflicts;
}

/** The JSON Pointers of the places at which two values of JSON differ. Arrays of different lengths are one place. */
export function differingPlaces(
  one: unknown,
  other: unknown,
  path: readonly (string | number)[] = [],
): readonly string[] {
  if (isFields(one) && isFields(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return keys.flatMap((key) => differingPlaces(fieldOf(one, key), fieldOf(other, key), [...path, key]));
  }
  if (isList(one) && isList(other) && one.length === other.length)
    return one.flatMap((item, index) => differingPlaces(item, other[index], [...path, index]));
  return isSameJson(one, other) ? [] : [keysToPointer(path)];
}

/** One place in versions of data; undefined where it does not exist. */
interface Place {
  readonly now: unknown;
  readonly base: unknown;
  readonly posted: unknown;
  /** What it was since `base`. */
  readonly later: readonly unknown[];
  /** What it was during a run. */
  readonly inRun: readonly unknown[];
}

/** A place with a container of one kind, also if others have put something else there meanwhile. */
interface PlaceOf<Container> extends Place {
  readonly now: Container;
  readonly base: Container;
  readonly posted: Container;
}

class Merge {
  readonly conflicts: string[] = [];
  readonly #path: (string | number)[] = [];

  /** Merges a place. `write` puts the posted value there: undefined removes it. */
  value(place: Place, write: (value: unknown) => void): void {
    const { now, base, posted, later, inRun } = place;
    if (isSameJson(base, posted) || isSameJson(now, posted) || isShown(posted, inRun)) return;
    if (isFields(now) && isFields(base) && isFields(posted))
      return this.#fields({ ...place, now, base, posted });
    if (isList(now) && isList(base) && isList(posted)) {
      const { length } = base;
      if (now.length === length && posted.length === length)
        return this.#items({ ...place, now, base, posted });
    }
    if (![now, ...later].every((other) => isSameJson(other, base)))
      this.conflicts.push(keysToPointer(this.#path));
    else if (isList(now) && isList(posted)) replaceItems(now, posted);
    else write(posted);
  }

  #fields({ now, base, posted, later, inRun }: PlaceOf<Fields>): void {
    // Where there was something else in the run, the client has not seen it.
    const shown = inRun.filter(isFields);
    const isKept = shown.length === inRun.length;
    for (const key of new Set([...Object.keys(base), ...Object.keys(posted)])) {
      const [old, given] = [fieldOf(base, key), fieldOf(posted, key)];
      // Reading a field of a draft makes a draft of it.
      if (isSameJson(old, given)) continue;
      const place = {
        now: fieldOf(now, key),
        base: old,
        posted: given,
        later: later.map((other) => (isFields(other) ? fieldOf(other, key) : undefined)),
        inRun: isKept ? shown.map((other) => fieldOf(other, key)) : [],
      };
      this.#within(key, place, (value) => writeField(now, key, value));
    }
  }

  #items({ now, base, posted, later, inRun }: PlaceOf<unknown[]>): void {
    const shown = inRun.filter(isList).filter((list) => list.length === base.length);
    for (const [index, given] of posted.entries()) {
      const old = base[index];
      if (isSameJson(old, given) || isSameJson(now[index], given)) continue;
      if (
        shown.length === inRun.length &&
        isShown(
          given,
          shown.map((list) => list[index]),
        )
      )
        continue;
      // Another item may have this index now: what was changed within the former one is not merged into it.
      const isKept = [now, ...later].every(
        (other) => isList(other) && other.length === base.length && isSameJson(other[index], old),
      );
      if (isKept) now[index] = given;
      else this.conflicts.push(keysToPointer([...this.#path, index]));
    }
  }

  #within(key: string, place: Place, write: (value: unknown) => void): void {
    this.#path.push(key);
    this.value(place, write);
    this.#path.pop();
  }
}

/** Whether what is posted at a place is all that it was during a run. */
const isShown = (posted: unknown, inRun: readonly unknown[]): boolean =>
  inRun.length > 0 && inRun.every((shown) => isSameJson(shown, posted));

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fieldOf = (fields: Fields, key: string): unknown =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

function writeField(fields: Fields, key: string, value: unknown): void {
  // It is not a field like others.
  if (key === "__proto__") throw new DataRefused(`it has the key ${JSON.stringify(key)}.`);
  if (value === undefined) delete fields[key];
  else fields[key] = value;
}

/** Replaces the items of a draft. Those that it has already stay the same, so that they are not recorded again. */
function replaceItems(now: unknown[], posted: readonly unknown[]): void {
  const known = new Map<string, unknown[]>();
  for (const item of now) {
    const text = canonicalJson(item);
    const same = known.get(text);
    if (same === undefined) known.set(text, [item]);
    else same.push(item);
  }
  const items = posted.map((item) => known.get(canonicalJson(item))?.shift() ?? item);
  now.length = 0;
  for (const item of items) now.push(item);
}
