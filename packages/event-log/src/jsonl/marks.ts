import type { ChainHead } from "../chain.ts";

/** A place in a file where a whole batch ends, and the head there: reading can start at it. */
export interface Mark {
  readonly offset: number;
  readonly head: ChainHead;
}

const distance = 64 * 1024;

/** Some marks of a file, far enough apart that they cost little, so that reading the newest records is not reading all. */
export class Marks {
  readonly #first: Mark;
  /** In order of their place in the file. */
  readonly #others: Mark[] = [];

  constructor(first: Mark) {
    this.#first = first;
  }

  add(mark: Mark): void {
    const place = this.#placeAfter(mark.head.seq);
    const before = this.#others[place - 1] ?? this.#first;
    const after = this.#others[place];
    const isFar = after === undefined || after.offset - mark.offset >= distance;
    if (isFar && mark.offset - before.offset >= distance) this.#others.splice(place, 0, mark);
  }

  /** The last mark from which the record after `seq` can be reached. */
  upTo(seq: number): Mark {
    return this.#others[this.#placeAfter(seq) - 1] ?? this.#first;
  }

  #placeAfter(seq: number): number {
    let low = 0;
    let high = this.#others.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const mark = this.#others[middle];
      if (mark !== undefined && mark.head.seq <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
