import type { Clock } from "@moora/agent";
import { PacedStream, type TextSource } from "../events/paced-stream.ts";
import { Waiting } from "../events/waiting.ts";

/** What a reader is sent, and how its writer continues when it was behind or is cut off. */
interface OutputWriter {
  /** Whether the last event was written. */
  readonly isComplete: () => boolean;
  /** Whether nothing more is written, complete or not. */
  readonly isOver: () => boolean;
  /** Called when the reader is behind. What is written from here on must be left out, and is written by `catchUp`. */
  readonly onBehind: () => void;
  /** Writes what the reader misses since it is behind. */
  readonly catchUp: () => void;
  /** Writes that the events end before they are complete. Returns false if nothing was written before. */
  readonly cut: () => boolean;
  /** Called when the reader has taken everything. */
  readonly onTaken: () => void;
  readonly onClose: () => void;
}

interface OutputOptions {
  readonly clock: Clock;
  readonly limits: {
    readonly maxBufferedBytes: number;
    readonly keepAliveMs: number;
    readonly streamStallMs: number;
  };
  /** Ends the connection of a reader that takes nothing. */
  readonly drop: () => void;
  /** The text after the last event. */
  readonly endText: string;
}

/**
 * The events of a chat as a stream that its reader takes at its own pace. What waits is limited: a reader that takes too little is
 * behind, and gets the difference between what it has taken and the state when it reads on.
 */
export class ChatOutput implements TextSource {
  readonly #writer: OutputWriter;
  readonly #texts: Waiting<{ readonly text: string }>;
  readonly #paced: PacedStream;
  readonly #endText: string;
  #isBehind = false;
  /** Whether the reader takes what is written now. */
  #isTaking = false;

  constructor(writer: OutputWriter, { clock, limits, drop, endText }: OutputOptions) {
    this.#writer = writer;
    this.#endText = endText;
    this.#texts = new Waiting(limits.maxBufferedBytes);
    const { keepAliveMs, streamStallMs: stallMs } = limits;
    this.#paced = new PacedStream(this, { clock, keepAliveMs, stallMs, head: ": chat\n\n", drop });
  }

  get stream(): PacedStream["stream"] {
    return this.#paced.stream;
  }

  /** Whether events were left out since the reader is behind. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  send(events: readonly object[]): void {
    for (const event of events) this.#texts.add({ text: `data: ${JSON.stringify(event)}\n\n` });
    if (!this.#isTaking) this.#paced.available();
    if (!this.#texts.isFull || this.#isBehind || this.#writer.isComplete()) return;
    this.#isBehind = true;
    this.#writer.onBehind();
  }

  /** Does not count what is sent meanwhile among what may wait. */
  uncounted(send: () => void): void {
    this.#texts.uncounted(send);
  }

  /** Called when the writer has changed: it may be over, or there may be a text. */
  available(): void {
    this.#paced.available();
  }

  /** Sends what a reader that is behind misses: `catchUp` writes it. */
  catchUp(catchUp: () => void): void {
    this.#isBehind = false;
    this.#isTaking = true;
    this.#texts.uncounted(catchUp);
    this.#isTaking = false;
  }

  end(): void {
    this.#paced.end();
  }

  get isAvailable(): boolean {
    return this.#isWaiting || this.#writer.isOver();
  }

  get isEnded(): boolean {
    return !this.#isWaiting && this.#writer.isOver();
  }

  async next(): Promise<string | undefined> {
    return this.nextNow();
  }

  /** Whether the reader has not taken everything that was written, or left out. */
  get #isWaiting(): boolean {
    return !this.#texts.isEmpty || this.#isBehind;
  }

  nextNow(): string | undefined {
    if (this.#texts.isEmpty && this.#isBehind) this.catchUp(this.#writer.catchUp);
    const text = this.#texts.take()?.text;
    if (text === undefined) return undefined;
    const isLast = this.#texts.isEmpty && this.#writer.isComplete();
    if (isLast) this.#writer.onTaken();
    return isLast ? text + this.#endText : text;
  }

  /** What waits, and an error: a stream without its end would look complete. Undefined if the reader has everything, or nothing was written. */
  cutText(): string | undefined {
    if (this.#writer.isComplete() && !this.#isWaiting) return undefined;
    let isBegun = false;
    this.#texts.uncounted(() => (isBegun = this.#writer.cut()));
    const texts = this.#texts.clear().map(({ text }) => text);
    return isBegun ? texts.join("") + this.#endText : undefined;
  }

  close(): void {
    this.#texts.clear();
    this.#writer.onClose();
  }
}
