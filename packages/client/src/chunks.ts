import type { Progress } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";

/** Converts chunks to progress. What a chunk repeats of an earlier one is left out. */
export class ChunkReader {
  #messageId = "";
  /** The length of the text of the message so far, and of the arguments of each call that it drafts. */
  #length = 0;
  #drafts = new Map<string, number>();

  /**
   * The progress of a chunk; undefined for one that repeats what is known or whose beginning was not seen, and for questions,
   * which are not progress.
   */
  progressOf(chunk: ChunkEvent): Progress | undefined {
    switch (chunk.type) {
      case "text":
        return this.#text(chunk);
      case "reasoning":
        return { ...chunk, type: "llm-reasoning" };
      case "tool-call":
        this.#begin(chunk.messageId);
        if (chunk.toolCallId !== undefined) this.#drafts.set(chunk.toolCallId, 0);
        return { ...chunk, type: "llm-tool-call" };
      case "tool-call-delta":
        return this.#draft(chunk);
      case "part-end":
        return { ...chunk, type: "llm-part-ended" };
      case "tool-progress":
        return { type: "tool-progress", toolCallId: chunk.toolCallId, text: chunk.text };
      case "warning":
        return { type: "llm-warning", text: chunk.text };
      case "question":
      case "question-closed":
        return undefined;
    }
  }

  #begin(messageId: string): void {
    if (messageId === this.#messageId) return;
    this.#messageId = messageId;
    this.#length = 0;
    this.#drafts = new Map();
  }

  #text(chunk: Extract<ChunkEvent, { type: "text" }>): Progress | undefined {
    this.#begin(chunk.messageId);
    const known = this.#length;
    const text = newText(chunk, known);
    if (text === undefined) return undefined;
    this.#length = known + text.length;
    return { ...chunk, type: "llm-text", text, offset: known };
  }

  #draft(chunk: Extract<ChunkEvent, { type: "tool-call-delta" }>): Progress | undefined {
    const known = this.#drafts.get(chunk.toolCallId);
    const text = known === undefined ? undefined : newText(chunk, known);
    if (known === undefined || text === undefined) return undefined;
    this.#drafts.set(chunk.toolCallId, known + text.length);
    return { ...chunk, type: "llm-tool-call-delta", text, offset: known };
  }
}

/** The part of a chunk after the text that is known; undefined if it adds nothing, or if text before it is missing. */
function newText(
  { offset, text }: { readonly offset: number; readonly text: string },
  known: number,
): string | undefined {
  if (offset > known) return undefined;
  const added = text.slice(known - offset);
  return added === "" ? undefined : added;
}
