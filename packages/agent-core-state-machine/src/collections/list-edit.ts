import { LongList, itemAt, partLength, type List, type Sequence } from "./long-list.ts";

/**
 * A list that inputs are changing. It copies a part at its first write and works in place after that; the list from which
 * it was made does not change.
 */
export class ListEdit<Item> implements Sequence<Item> {
  #parts: readonly (readonly Item[])[] = [];
  /** The items after the parts. May be longer than a part until `finish`. */
  #rest: readonly Item[];
  #ownParts: (readonly Item[])[] | undefined;
  #ownRest: Item[] | undefined;

  constructor(list: List<Item>) {
    if (list instanceof LongList) {
      this.#parts = list.parts;
      this.#rest = list.rest;
    } else this.#rest = list;
  }

  get length(): number {
    return this.#parts.length * partLength + this.#rest.length;
  }

  at(index: number): Item | undefined {
    return itemAt(this.#parts, this.#rest, index);
  }

  slice(from?: number, to?: number): readonly Item[] {
    return new LongList(this.#parts, this.#rest).slice(from, to);
  }

  findLast(matches: (item: Item) => boolean): Item | undefined {
    return new LongList(this.#parts, this.#rest).findLast(matches);
  }

  push(item: Item): void {
    this.#writableRest().push(item);
  }

  /** Replaces the item at an index of the list. */
  set(index: number, item: Item): void {
    const full = this.#parts.length * partLength;
    if (index >= full) {
      this.#writableRest()[index - full] = item;
      return;
    }
    const at = Math.floor(index / partLength);
    const part = this.#parts[at]?.slice() ?? [];
    part[index % partLength] = item;
    this.#parts = this.#ownParts ??= this.#parts.slice();
    this.#ownParts[at] = part;
  }

  /** Inserts an item before the one at an index. The cost depends on the number of items after it. */
  insert(index: number, item: Item): void {
    const kept = Math.min(this.#parts.length, Math.floor(index / partLength));
    if (kept < this.#parts.length) {
      this.#rest = this.#ownRest = Array.from(this.slice(kept * partLength));
      this.#parts = this.#ownParts = this.#parts.slice(0, kept);
    }
    this.#writableRest().splice(index - kept * partLength, 0, item);
  }

  /** Returns the current list. It is immutable from now on: later writes go to new copies. */
  finish(): List<Item> {
    if (this.#rest.length > partLength) this.#divide();
    this.#ownParts = undefined;
    this.#ownRest = undefined;
    return this.#parts.length === 0 ? this.#rest : new LongList(this.#parts, this.#rest);
  }

  /** Moves all items but the last ones to parts. */
  #divide(): void {
    const parts = this.#parts.slice();
    const rest = this.#rest;
    let from = 0;
    for (; from + partLength < rest.length; from += partLength)
      parts.push(rest.slice(from, from + partLength));
    this.#parts = parts;
    this.#rest = rest.slice(from);
  }

  #writableRest(): Item[] {
    // A spread, because V8 copies a frozen array item by item in `slice`.
    this.#rest = this.#ownRest ??= [...this.#rest];
    return this.#ownRest;
  }
}
