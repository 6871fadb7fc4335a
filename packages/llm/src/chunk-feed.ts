import type { LlmCallOptions, LlmChunk } from "./caller.ts";

/** Emits chunks to the listener of a call. */
export interface ChunkFeed {
  text(delta: string): void;
  reasoning(delta: string): void;
  toolCall(name: string): void;
  /** Emits the incomplete characters that are left. Call it after the last chunk. */
  end(): void;
}

/**
 * A feed for `onChunk` of a call. It emits complete characters only: half of a surrogate pair is kept until the other half
 * arrives. Exceptions of the listener are ignored.
 */
export function chunkFeed(onChunk: LlmCallOptions["onChunk"]): ChunkFeed {
  const emit = (chunk: LlmChunk): void => {
    try {
      onChunk?.(chunk);
    } catch {
      // A listener that fails must not lose the answer.
    }
  };
  const text = characterBuffer((piece) => emit({ type: "text", text: piece }));
  const reasoning = characterBuffer((piece) => emit({ type: "reasoning", text: piece }));
  return {
    text: (delta) => text.add(delta),
    reasoning: (delta) => reasoning.add(delta),
    toolCall: (name) => emit({ type: "tool-call", name }),
    end: () => {
      text.end();
      reasoning.end();
    },
  };
}

const endsInHighSurrogate = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

/** Keeps the first half of a surrogate pair until the second half arrives. */
function characterBuffer(emit: (text: string) => void): { add(delta: string): void; end(): void } {
  let pending = "";
  const emitText = (text: string): void => {
    if (text !== "") emit(text.toWellFormed());
  };
  return {
    add(delta) {
      const text = pending + delta;
      pending = endsInHighSurrogate(text) ? text.slice(-1) : "";
      emitText(pending === "" ? text : text.slice(0, -1));
    },
    end() {
      emitText(pending);
      pending = "";
    },
  };
}
