import type { Sequence } from "./long-list.ts";

/**
 * The positions of the items of a list by key. All versions of a list share one index, which is a cache: an entry that was
 * written for another version is recognized and corrected. Every item that is added to any version must be added here.
 */
export class KeyIndex<Item> {
  readonly #keyOf: (item: Item) => string;
  readonly #positions = new Map<string, number>();

  constructor(list: Sequence<Item>, keyOf: (item: Item) => string) {
    this.#keyOf = keyOf;
    for (let position = 0; position < list.length; position += 1) {
      const item = list.at(position);
      if (item !== undefined) this.add(item, position);
    }
  }

  add(item: Item, position: number): void {
    this.#positions.set(this.#keyOf(item), position);
  }

  /** The position of the item with this key in a version of the list, or -1. */
  positionIn(list: Sequence<Item>, key: string): number {
    const position = this.#positions.get(key);
    if (position === undefined || this.#isAt(list, position, key)) return position ?? -1;
    const found = lastPosition(list, (item) => this.#keyOf(item) === key);
    if (found >= 0) this.#positions.set(key, found);
    return found;
  }

  #isAt(list: Sequence<Item>, position: number, key: string): boolean {
    const item = list.at(position);
    return item !== undefined && this.#keyOf(item) === key;
  }
}

/** The position of the last item that matches, or -1. */
export function lastPosition<Item>(list: Sequence<Item>, matches: (item: Item) => boolean): number {
  for (let position = list.length - 1; position >= 0; position -= 1) {
    const item = list.at(position);
    if (item !== undefined && matches(item)) return position;
  }
  return -1;
}
