/** The length of a part. A list of up to this many items is a plain array; a longer one consists of parts. */
export const partLength = 64;

/** A list that can be read: an array or a `LongList`. */
export interface Sequence<Item> {
  readonly length: number;
  /** The item at an index from 0; undefined beyond the end. Negative indices are not used. */
  at(index: number): Item | undefined;
  slice(from?: number, to?: number): readonly Item[];
  findLast(matches: (item: Item) => boolean): Item | undefined;
}

/** An immutable list: an array, or a `LongList` if it has more than `partLength` items. */
export type List<Item> = readonly Item[] | LongList<Item>;

/**
 * An immutable list that shares its parts with the lists that it was made from, so that the cost of a write does not depend
 * on its length. `parts` are full, `rest` contains the items after them.
 */
export class LongList<Item> implements Sequence<Item> {
  readonly parts: readonly (readonly Item[])[];
  readonly rest: readonly Item[];
  readonly length: number;
  /** The cache of `toArray`. Not a `#` field: a reactive framework may wrap the list in a proxy, which has no `#` fields. */
  cachedArray: readonly Item[] | undefined;

  constructor(parts: readonly (readonly Item[])[], rest: readonly Item[]) {
    this.parts = parts;
    this.rest = rest;
    this.length = parts.length * partLength + rest.length;
  }

  at(index: number): Item | undefined {
    return itemAt(this.parts, this.rest, index);
  }

  slice(from = 0, to = this.length): readonly Item[] {
    const items: Item[] = [];
    for (let index = from; index < Math.min(to, this.length); index += 1) {
      const item = this.at(index);
      if (item !== undefined) items.push(item);
    }
    return items;
  }

  findLast(matches: (item: Item) => boolean): Item | undefined {
    for (let part = this.parts.length; part >= 0; part -= 1) {
      const found = (this.parts[part] ?? this.rest).findLast(matches);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** All items as one array. Created once for each list. */
  toArray(): readonly Item[] {
    return (this.cachedArray ??= Object.freeze(this.slice()));
  }
}

export const itemAt = <Item>(
  parts: readonly (readonly Item[])[],
  rest: readonly Item[],
  index: number,
): Item | undefined =>
  index < parts.length * partLength
    ? parts[Math.floor(index / partLength)]?.[index % partLength]
    : rest[index - parts.length * partLength];

/** The items of a list as one array. */
export const toArray = <Item>(list: List<Item>): readonly Item[] =>
  list instanceof LongList ? list.toArray() : list;

/** Whether two lists have the same items, by identity, in `[from, to)`. Parts that the lists share are not compared. */
export function isSameRange<Item>(a: Sequence<Item>, b: Sequence<Item>, from: number, to: number): boolean {
  for (let index = from; index < to;) {
    const start = index - (index % partLength);
    const until = Math.min(to, start + partLength);
    const [partOfA, partOfB] = [partAt(a, index), partAt(b, index)];
    if (partOfA === undefined || partOfA !== partOfB) {
      for (; index < until; index += 1) {
        const itemOfA = partOfA === undefined ? a.at(index) : partOfA[index - start];
        if (itemOfA !== (partOfB === undefined ? b.at(index) : partOfB[index - start])) return false;
      }
    }
    index = until;
  }
  return true;
}

/** The part of a divided list that contains an index; undefined for any other list. */
const partAt = <Item>(list: Sequence<Item>, index: number): readonly Item[] | undefined =>
  list instanceof LongList ? (list.parts[Math.floor(index / partLength)] ?? list.rest) : undefined;
