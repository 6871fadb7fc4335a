/** What waits for a reader. */
export class Waiting<Item extends { readonly text: string }> {
  readonly #limit: number;
  /** `counted`: how much of the buffer it takes. */
  #items: { readonly item: Item; readonly counted: number }[] = [];
  #buffered = 0;
  #isCounted = true;

  /** `limit` is the most characters that wait before the reader is behind. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Whether more waits than the buffer takes. */
  get isFull(): boolean {
    return this.#buffered > this.#limit;
  }

  add(item: Item): void {
    const counted = this.#isCounted ? item.text.length : 0;
    this.#items.push({ item, counted });
    this.#buffered += counted;
  }

  /** Does not count what is added meanwhile: a text that is longer than the buffer would fill it again, without end. */
  uncounted(add: () => void): void {
    this.#isCounted = false;
    try {
      add();
    } finally {
      this.#isCounted = true;
    }
  }

  take(): Item | undefined {
    const next = this.#items.shift();
    this.#buffered -= next?.counted ?? 0;
    return next?.item;
  }

  /** Takes everything that waits. */
  clear(): readonly Item[] {
    const all = this.#items.map(({ item }) => item);
    this.#items = [];
    this.#buffered = 0;
    return all;
  }
}
