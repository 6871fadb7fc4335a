import type { Json } from "@moora/agent-webui-protocol";
import { isSameJson } from "../json-copy.ts";
import { keysToPointer, type DataPatch } from "./patches.ts";

/** How two values are compared. */
export interface DifferenceOptions {
  /** How many levels of arrays and objects are looked into. Below them a value is replaced as a whole. Default: all. */
  readonly maxDepth?: number;
  /** Whether the value as a whole is never replaced where both are arrays, or both are objects. Default: false. */
  readonly keepsRoot?: boolean;
}

/** So many edits of an array are always recorded one by one. */
const fewEdits = 16;

/**
 * The patches that lead from one value of JSON to another. An array of which more than half of the items differ is replaced as
 * a whole.
 */
export function differenceOf(from: Json, to: Json, options: DifferenceOptions = {}): readonly DataPatch[] {
  return [...differences([], from, to, options)];
}

type Keys = readonly (string | number)[];
type Fields = { readonly [key: string]: Json };

function* differences(keys: Keys, from: Json, to: Json, options: DifferenceOptions): Iterable<DataPatch> {
  const { maxDepth = Number.POSITIVE_INFINITY } = options;
  if (from === to) return;
  if (keys.length < maxDepth) {
    if (isArray(from) && isArray(to)) return yield* itemDifferences(keys, from, to, options);
    if (isFields(from) && isFields(to)) return yield* fieldDifferences(keys, from, to, options);
  }
  if (!isSameJson(from, to)) yield { op: "replace", path: keysToPointer(keys), value: to };
}

function* fieldDifferences(
  keys: Keys,
  from: Fields,
  to: Fields,
  options: DifferenceOptions,
): Iterable<DataPatch> {
  for (const key of Object.keys(from))
    if (!Object.hasOwn(to, key)) yield { op: "remove", path: keysToPointer([...keys, key]) };
  for (const [key, value] of Object.entries(to)) {
    if (!Object.hasOwn(from, key)) yield { op: "add", path: keysToPointer([...keys, key]), value };
    else if (from[key] !== value) yield* differences([...keys, key], from[key] ?? null, value, options);
  }
}

function* itemDifferences(
  keys: Keys,
  from: readonly Json[],
  to: readonly Json[],
  options: DifferenceOptions,
): Iterable<DataPatch> {
  const edits = alignedItems(from, to);
  if (edits.length > Math.max(fewEdits, to.length / 2) && !(options.keepsRoot === true && keys.length === 0))
    return yield { op: "replace", path: keysToPointer(keys), value: to };
  for (const { op, at, before = null, after = null } of edits) {
    const place = [...keys, at];
    if (op === "pair") yield* differences(place, before, after, options);
    else if (op === "add") yield { op, path: keysToPointer(place), value: after };
    else yield { op, path: keysToPointer(place) };
  }
}

/** One step from an array to another one, at an index of the array that the steps before have made. `pair`: an item becomes another one. */
interface ItemEdit {
  readonly op: "pair" | "add" | "remove";
  readonly at: number;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The steps from an array to another one. Items that both have, in the same order, take none. */
function alignedItems(from: readonly Json[], to: readonly Json[]): readonly ItemEdit[] {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && isSameJson(from[start], to[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSameJson(from.at(-1 - end), to.at(-1 - end))) end += 1;
  const before = from.slice(start, from.length - end).map(withText);
  const after = to.slice(start, to.length - end).map(withText);
  const old = new Set(before.map(({ text }) => text));
  const remaining = new Set(after.map(({ text }) => text));
  const edits: ItemEdit[] = [];
  let [index, at] = [0, 0];
  while (index < before.length || at < after.length) {
    const [item, made] = [before[index], after[at]];
    if (item?.text !== made?.text) {
      // An item that the next one follows at once was moved to another place.
      const isRemoved =
        item !== undefined && (!remaining.has(item.text) || before[index + 1]?.text === made?.text);
      const isAdded = made !== undefined && (!old.has(made.text) || after[at + 1]?.text === item?.text);
      const op = made === undefined ? "remove" : item === undefined ? "add" : editOf(isRemoved, isAdded);
      edits.push({ op, at: start + at, before: item?.value, after: made?.value });
      if (op === "remove") at -= 1;
      if (op === "add") index -= 1;
    }
    index += 1;
    at += 1;
  }
  return edits;
}

const editOf = (isRemoved: boolean, isAdded: boolean): ItemEdit["op"] =>
  isRemoved === isAdded ? "pair" : isRemoved ? "remove" : "add";

const withText = (value: Json): { readonly value: Json; readonly text: string } => ({
  value,
  text: JSON.stringify(value),
});

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

const isFields = (value: Json): value is Fields =>
  typeof value === "object" && value !== null && !isArray(value);
