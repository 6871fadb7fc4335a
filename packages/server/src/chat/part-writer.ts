import type { UiChunk } from "./ui-chunk.ts";

/** A text or reasoning in a message. */
export interface MessagePart {
  readonly kind: "text" | "reasoning";
  readonly id: string;
}

/** Writes texts and reasoning with their beginnings and ends: one part is open at a time. */
export class PartWriter {
  readonly #write: (chunk: UiChunk) => void;
  #open: MessagePart | undefined;

  constructor(write: (chunk: UiChunk) => void) {
    this.#write = write;
  }

  /** Continues a part, or begins it. */
  write({ kind, id }: MessagePart, delta: string): void {
    if (delta === "") return;
    if (this.#open?.kind !== kind || this.#open.id !== id) {
      this.close();
      this.#open = { kind, id };
      this.#write({ type: `${kind}-start`, id });
    }
    this.#write({ type: `${kind}-delta`, id, delta });
  }

  close(): void {
    if (this.#open !== undefined) this.#write({ type: `${this.#open.kind}-end`, id: this.#open.id });
    this.#open = undefined;
  }

  /** Forgets the open part, which was taken back. */
  drop(): void {
    this.#open = undefined;
  }
}
