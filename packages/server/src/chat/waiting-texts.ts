/** `counted`: how much of the buffer it takes. */
interface WaitingText {
  readonly text: string;
  readonly counted: number;
}

/** The texts that wait for a reader. */
export class WaitingTexts {
  readonly #limit: number;
  #texts: WaitingText[] = [];
  #buffered = 0;
  #isCounted = true;

  /** `limit` is the most characters that wait before the reader is behind. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  /** Whether more waits than the buffer takes. */
  get isFull(): boolean {
    return this.#buffered > this.#limit;
  }

  add(text: string): void {
    const counted = this.#isCounted ? text.length : 0;
    this.#texts.push({ text, counted });
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

  take(): string | undefined {
    const next = this.#texts.shift();
    this.#buffered -= next?.counted ?? 0;
    return next?.text;
  }

  /** Everything that waits. */
  takeAll(): string {
    const all = this.#texts.map(({ text }) => text).join("");
    this.#texts = [];
    this.#buffered = 0;
    return all;
  }
}
