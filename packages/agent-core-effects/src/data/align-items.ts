/** One step from an array to another one, where it has the index `to`. `from` is the index in the array before. */
export interface ItemEdit {
  /** `pair`: an item becomes another one. `add`: an item is inserted. `remove`: an item is removed. */
  readonly op: "pair" | "add" | "remove";
  readonly from: number;
  readonly to: number;
}

type IsSame = (before: unknown, after: unknown) => boolean;

/** This many steps are always taken one by one. */
const fewEdits = 16;

/** The most steps that move the items behind them: each of them copies those once. */
const maxShifts = 1_000;

/**
 * The steps from an array to another one, in order. Items that both have, in the same order, take none. Undefined if there are so many
 * that the whole is the shorter description.
 */
export function alignItems(
  before: readonly unknown[],
  after: readonly unknown[],
  isSame: IsSame,
): readonly ItemEdit[] | undefined {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start += 1;
  let suffixLength = 0;
  while (
    suffixLength < shorter - start &&
    isSame(before[before.length - 1 - suffixLength], after[after.length - 1 - suffixLength])
  )
    suffixLength += 1;
  const ends = { start, endBefore: before.length - suffixLength, endAfter: after.length - suffixLength };
  const maxEdits = Math.max(fewEdits, after.length / 2);
  const inPlace = pairs(before, after, ends, { isSame, maxEdits });
  if (inPlace !== undefined && inPlace.length <= Math.max(1, (ends.endAfter - start) / 8)) return inPlace;
  const moved = movedItems(before, after, ends, { isSame, maxEdits });
  return moved === undefined || (inPlace !== undefined && inPlace.length <= moved.length) ? inPlace : moved;
}

/** The parts of two arrays between the items that both begin with, and those that both end with. */
interface ChangedRange {
  readonly start: number;
  readonly endBefore: number;
  readonly endAfter: number;
}

interface AlignOptions {
  readonly isSame: IsSame;
  readonly maxEdits: number;
}

/** The steps if items were changed in their places only. Undefined if the lengths differ, or if many items differ. */
function pairs(
  before: readonly unknown[],
  after: readonly unknown[],
  { start, endBefore, endAfter }: ChangedRange,
  { isSame, maxEdits }: AlignOptions,
): ItemEdit[] | undefined {
  if (endBefore !== endAfter) return undefined;
  const edits: ItemEdit[] = [];
  for (let index = start; index < endAfter; index += 1) {
    if (isSame(before[index], after[index])) continue;
    edits.push({ op: "pair", from: index, to: index });
    if (edits.length > maxEdits) return undefined;
  }
  return edits;
}

/** The steps if items were inserted and removed. An item that is only in one of the two was. */
function movedItems(
  before: readonly unknown[],
  after: readonly unknown[],
  { start, endBefore, endAfter }: ChangedRange,
  { isSame, maxEdits }: AlignOptions,
): ItemEdit[] | undefined {
  const old = new Set(before.slice(start, endBefore));
  const remaining = new Set(after.slice(start, endAfter));
  const edits: ItemEdit[] = [];
  let shifts = 0;
  let from = start;
  let to = start;
  while (from < endBefore && to < endAfter) {
    if (!isSame(before[from], after[to])) {
      // An item that the next one follows at once was moved to another place.
      const isRemoved =
        !remaining.has(before[from]) || (from + 1 < endBefore && isSame(before[from + 1], after[to]));
      const isAdded = !old.has(after[to]) || (to + 1 < endAfter && isSame(before[from], after[to + 1]));
      const op = isRemoved === isAdded ? "pair" : isRemoved ? "remove" : "add";
      if (op !== "pair") shifts += 1;
      edits.push({ op, from, to });
      if (edits.length > maxEdits || shifts > maxShifts) return undefined;
      if (op === "remove") to -= 1;
      if (op === "add") from -= 1;
    }
    from += 1;
    to += 1;
  }
  const removed = endBefore - from;
  const added = endAfter - to;
  if (
    edits.length + removed + added > maxEdits ||
    (endBefore < before.length && removed + added + shifts > maxShifts)
  )
    return undefined;
  for (let count = removed; count > 0; count -= 1)
    edits.push({ op: "remove", from: from + count - 1, to: to + count - 1 });
  for (let count = 0; count < added; count += 1) edits.push({ op: "add", from: endBefore, to: to + count });
  return edits;
}
