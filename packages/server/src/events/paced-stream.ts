import type { Clock } from "@moora/agent";
import { keepAliveText } from "./sse.ts";

/** Where a stream gets its texts. */
export interface TextSource {
  /** Whether `next` may return a text. */
  readonly isAvailable: boolean;
  /** The next text; undefined if there is none now. */
  next(): Promise<string | undefined>;
  /** The next text if it is in memory. */
  nextNow(): string | undefined;
  /** Whether the source has ended: after its last text, the stream ends. */
  readonly isEnded: boolean;
  /** The last text of a stream that ends now, with what waits; undefined if its reader has everything, or continues in another stream. */
  cutText?(): string | undefined;
  close(): void;
}

export interface PaceOptions {
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly stallMs: number;
  /** The first text. */
  readonly head: string;
  /** Reports a reader that takes nothing, and ends its connection. */
  readonly drop: () => void;
}

/** Up to this length, texts are given to a reader together. */
const batchLength = 16_384;

/**
 * A stream of texts that a reader takes at its own pace: what it takes is made when it asks, and nothing is kept for
 * it. A reader that does not ask for `stallMs`, although there is a text, is dropped. A pause is filled with comments.
 */
export class PacedStream {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #source: TextSource;
  readonly #options: PaceOptions;
  readonly #encoder = new TextEncoder();
  #wake: (() => void) | undefined;
  #cancelStall: (() => void) | undefined;
  #cancelKeepAlive: (() => void) | undefined;
  #isDone = false;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;

  constructor(source: TextSource, options: PaceOptions) {
    this.#source = source;
    this.#options = options;
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(this.#encoder.encode(options.head));
        },
        pull: (controller) => this.#pull(controller),
        cancel: () => this.end(),
      },
      // Nothing is made ahead of the reader.
      { highWaterMark: 0 },
    );
    if (source.isAvailable) this.#watchStall();
  }

  /** Called when the source may have a text. */
  available(): void {
    if (this.#wake !== undefined) return this.#wake();
    // The reader has what it took before, and has not asked again.
    this.#watchStall();
  }

  /**
   * Ends the stream, and closes its source. A source with `cutText` has a last text, so that what is cut off does not look complete;
   * without it, the stream ends after the text that its reader has.
   */
  end(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#cancelStall?.();
    this.#cancelKeepAlive?.();
    const rest = this.#source.cutText?.();
    this.#source.close();
    this.#wake?.();
    try {
      if (rest !== undefined) this.#controller?.enqueue(this.#encoder.encode(rest));
      this.#controller?.close();
    } catch {
      // The reader has canceled it.
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
    const text = await this.#next();
    if (text === undefined || this.#isDone) return this.end();
    controller.enqueue(this.#encoder.encode(this.#withMore(text)));
    if (this.#source.isAvailable) this.#watchStall();
  }

  /** A text and those after it that are in memory: a reader that is behind takes several at once. */
  #withMore(first: string): string {
    let text = first;
    while (text.length < batchLength) {
      const more = this.#source.nextNow();
      if (more === undefined) return text;
      text += more;
    }
    return text;
  }

  /** The next text; undefined at the end. */
  async #next(): Promise<string | undefined> {
    while (!this.#isDone) {
      const text = await this.#source.next();
      if (text !== undefined) return text;
      if (this.#source.isEnded) return undefined;
      if (!this.#source.isAvailable && (await this.#isPauseOver())) return keepAliveText;
    }
    return undefined;
  }

  /** Waits for the next text of the source. Resolves with true if the pause has become long. */
  #isPauseOver(): Promise<boolean> {
    const { clock, keepAliveMs } = this.#options;
    return new Promise((resolve) => {
      const finish = (isOver: boolean): void => {
        this.#wake = undefined;
        this.#cancelKeepAlive?.();
        resolve(isOver);
      };
      this.#wake = () => finish(false);
      this.#cancelKeepAlive = clock.after(keepAliveMs, () => finish(true), { keepsAlive: false });
    });
  }

  #watchStall(): void {
    if (this.#isDone || this.#cancelStall !== undefined) return;
    const { clock, stallMs, drop } = this.#options;
    this.#cancelStall = clock.after(
      stallMs,
      () => {
        this.end();
        drop();
      },
      { keepsAlive: false },
    );
  }
}
