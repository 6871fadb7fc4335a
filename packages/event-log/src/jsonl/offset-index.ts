import type { ChainHead } from "../chain.ts";

/** The end of a complete batch: its offset in the file, and the head there. Reading can start at it. */
export interface Offset {
  readonly offset: number;
  readonly head: ChainHead;
}

const minDistanceBytes = 64 * 1024;

/** A sparse index of the offsets in a file, so that reading the newest records does not read the whole file. */
export class OffsetIndex {
  readonly #first: Offset;
  /** Ordered by offset. */
  readonly #others: Offset[] = [];

  constructor(first: Offset) {
    this.#first = first;
  }

  add(entry: Offset): void {
    const index = this.#indexAfter(entry.head.seq);
    const before = this.#others[index - 1] ?? this.#first;
    const after = this.#others[index];
    const isFar = after === undefined || after.offset - entry.offset >= minDistanceBytes;
    if (isFar && entry.offset - before.offset >= minDistanceBytes) this.#others.splice(index, 0, entry);
  }

  /** The last known offset at or before the end of record `seq`. */
  upTo(seq: number): Offset {
    return this.#others[this.#indexAfter(seq) - 1] ?? this.#first;
  }

  #indexAfter(seq: number): number {
    let low = 0;
    let high = this.#others.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#others[middle];
      if (entry !== undefined && entry.head.seq <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
