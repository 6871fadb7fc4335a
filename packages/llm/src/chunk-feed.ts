import type { LlmCallOptions, LlmChunk } from "./caller.ts";

/** Passes on what a model makes: whole characters only, and whatever the listener throws stays with the listener. */
export interface ChunkFeed {
  text(delta: string): void;
  reasoning(delta: string): void;
  toolCall(name: string): void;
  /** Gives out what was held back, when nothing more can come. */
  end(): void;
}

export function chunkFeed(onChunk: LlmCallOptions["onChunk"]): ChunkFeed {
  const emit = (chunk: LlmChunk): void => {
    try {
      onChunk?.(chunk);
    } catch {
      // A viewer that fails is no reason to lose the answer.
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

/** Holds the first half of a surrogate pair back until the second half comes. */
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
