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
  const tell = (chunk: LlmChunk): void => {
    try {
      onChunk?.(chunk);
    } catch {
      // A viewer that fails is no reason to lose the answer.
    }
  };
  const text = wholeCharacters((piece) => tell({ type: "text", text: piece }));
  const reasoning = wholeCharacters((piece) => tell({ type: "reasoning", text: piece }));
  return {
    text: (delta) => text.add(delta),
    reasoning: (delta) => reasoning.add(delta),
    toolCall: (name) => tell({ type: "tool-call", name }),
    end: () => {
      text.end();
      reasoning.end();
    },
  };
}

const endsInHalf = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

/** Holds the first half of a surrogate pair back until the second half comes. */
function wholeCharacters(emit: (text: string) => void): { add(delta: string): void; end(): void } {
  let held = "";
  const give = (text: string): void => {
    if (text !== "") emit(text.toWellFormed());
  };
  return {
    add(delta) {
      const text = held + delta;
      held = endsInHalf(text) ? text.slice(-1) : "";
      give(held === "" ? text : text.slice(0, -1));
    },
    end() {
      give(held);
      held = "";
    },
  };
}
