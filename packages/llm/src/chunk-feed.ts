import type { LlmCallOptions, LlmChunk } from "./caller.ts";

/** What an adapter calls a part while it is streamed, such as an index or an id of its provider. Unique among open parts. */
export type PartKey = string | number;

/**
 * Emits chunks to the listener of a call. Parts are numbered in the order in which they start. A part without a key is the only
 * one of its kind: all text is one part, and each call ends the one before.
 */
export interface ChunkFeed {
  text(delta: string, part?: PartKey): void;
  reasoning(delta: string, part?: PartKey): void;
  /** Starts a call. `id` is that of its part in the turn; leave it out if it is not known yet. */
  toolCall(name: string, part?: PartKey, id?: string): void;
  /** Emits JSON text of the arguments of a call. Text of a call that has not started is dropped. */
  toolArguments(delta: string, part?: PartKey): void;
  /** Ends a part. Its key may be used again. Does nothing for a part that has not started. */
  endPart(part: PartKey): void;
  /** Ends all parts. Call it after the last chunk. */
  end(): void;
}

/**
 * A feed for `onChunk` of a call. It emits complete characters only: half of a surrogate pair is kept until the other half
 * arrives. Exceptions of the listener are ignored. Without a listener, it makes no chunks.
 */
export const chunkFeed = (onChunk: LlmCallOptions["onChunk"]): ChunkFeed =>
  onChunk === undefined ? silentFeed : new ListenedFeed(onChunk);

const nothing = (): void => undefined;

const silentFeed: ChunkFeed = {
  text: nothing,
  reasoning: nothing,
  toolCall: nothing,
  toolArguments: nothing,
  endPart: nothing,
  end: nothing,
};

/** A part that has started. */
interface OpenPart {
  readonly type: "text" | "reasoning" | "tool-call-delta";
  readonly index: number;
  /** The first half of a surrogate pair whose second half has not arrived. */
  pending: string;
}

const [onlyText, onlyReasoning, onlyCall] = [Symbol("text"), Symbol("reasoning"), Symbol("call")];

class ListenedFeed implements ChunkFeed {
  readonly #onChunk: (chunk: LlmChunk) => void;
  readonly #parts = new Map<PartKey | symbol, OpenPart>();
  #count = 0;

  constructor(onChunk: (chunk: LlmChunk) => void) {
    this.#onChunk = onChunk;
  }

  text(delta: string, part: PartKey | symbol = onlyText): void {
    if (delta !== "") this.#grow(this.#parts.get(part) ?? this.#start("text", part), delta);
  }

  reasoning(delta: string, part: PartKey | symbol = onlyReasoning): void {
    if (delta !== "") this.#grow(this.#parts.get(part) ?? this.#start("reasoning", part), delta);
  }

  toolCall(name: string, part: PartKey | symbol = onlyCall, id: string = ""): void {
    this.endPart(part);
    const { index } = this.#start("tool-call-delta", part);
    this.#emit({ type: "tool-call", index, ...(id !== "" && { id }), name });
  }

  toolArguments(delta: string, part: PartKey | symbol = onlyCall): void {
    const open = this.#parts.get(part);
    if (open?.type === "tool-call-delta" && delta !== "") this.#grow(open, delta);
  }

  endPart(part: PartKey | symbol): void {
    const open = this.#parts.get(part);
    if (open === undefined) return;
    this.#parts.delete(part);
    const { type, index, pending } = open;
    if (pending !== "") this.#emit({ type, index, text: pending.toWellFormed() });
    this.#emit({ type: "part-end", index });
  }

  end(): void {
    for (const part of this.#parts.keys()) this.endPart(part);
  }

  #start(type: OpenPart["type"], part: PartKey | symbol): OpenPart {
    const open: OpenPart = { type, index: this.#count, pending: "" };
    this.#count += 1;
    this.#parts.set(part, open);
    return open;
  }

  #grow(part: OpenPart, delta: string): void {
    const { type, index } = part;
    const all = part.pending + delta;
    const end = endsInHighSurrogate(all) ? all.length - 1 : all.length;
    part.pending = all.slice(end);
    if (end > 0) this.#emit({ type, index, text: all.slice(0, end).toWellFormed() });
  }

  #emit(chunk: LlmChunk): void {
    try {
      this.#onChunk(chunk);
    } catch {
      // A listener that fails must not lose the answer.
    }
  }
}

const endsInHighSurrogate = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);
