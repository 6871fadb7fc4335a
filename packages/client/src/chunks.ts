import type { Progress } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";

/** Converts chunks to progress. What a chunk repeats of an earlier one is left out. */
export class ChunkReader {
  #messageId = "";
  /** The lengths of the text and the reasoning of the message so far, and of the arguments of each call that it drafts. */
  #lengths = { text: 0, reasoning: 0 };
  #drafts = new Map<string, number>();

  /**
   * The progress of a chunk; none for one that repeats what is known or follows a gap, and for questions, which are not
   * progress.
   */
  progressOf(chunk: ChunkEvent): readonly Progress[] {
    switch (chunk.type) {
      case "text":
        return this.#text(chunk);
      case "reasoning":
      case "draft-reasoning":
        return this.#reasoning(chunk);
      case "tool-call":
        return this.#call(chunk);
      case "tool-call-delta":
        return this.#arguments(chunk);
      case "draft-call":
        return this.#draft(chunk);
      case "part-end":
        return [{ ...chunk, type: "llm-part-ended" }];
      case "tool-progress":
        return [{ type: "tool-progress", toolCallId: chunk.toolCallId, text: chunk.text }];
      case "warning":
        return [{ type: "llm-warning", text: chunk.text }];
      case "question":
      case "question-closed":
        return [];
    }
    // Chunks of later releases are left out.
    return [];
  }

  #begin(messageId: string): void {
    if (messageId === this.#messageId) return;
    this.#messageId = messageId;
    this.#lengths = { text: 0, reasoning: 0 };
    this.#drafts = new Map();
  }

  #text(chunk: Extract<ChunkEvent, { type: "text" }>): readonly Progress[] {
    this.#begin(chunk.messageId);
    const offset = this.#lengths.text;
    const text = newText(chunk, offset);
    if (text === undefined) return [];
    this.#lengths.text += text.length;
    return [{ ...chunk, type: "llm-text", text, offset }];
  }

  #reasoning(chunk: Extract<ChunkEvent, { type: "reasoning" | "draft-reasoning" }>): readonly Progress[] {
    this.#begin(chunk.messageId);
    const offset = this.#lengths.reasoning;
    const text = newText({ offset, ...chunk }, offset);
    if (text === undefined) return [];
    this.#lengths.reasoning += text.length;
    return [{ ...chunk, type: "llm-reasoning", text, offset }];
  }

  #call(chunk: Extract<ChunkEvent, { type: "tool-call" }>): readonly Progress[] {
    this.#begin(chunk.messageId);
    const { toolCallId } = chunk;
    if (toolCallId !== undefined && this.#drafts.has(toolCallId)) return [];
    if (toolCallId !== undefined) this.#drafts.set(toolCallId, 0);
    return [{ ...chunk, type: "llm-tool-call" }];
  }

  #arguments(chunk: Extract<ChunkEvent, { type: "tool-call-delta" }>): readonly Progress[] {
    this.#begin(chunk.messageId);
    const offset = this.#drafts.get(chunk.toolCallId);
    const text = offset === undefined ? undefined : newText(chunk, offset);
    if (offset === undefined || text === undefined) return [];
    this.#drafts.set(chunk.toolCallId, offset + text.length);
    return [{ ...chunk, type: "llm-tool-call-delta", text, offset }];
  }

  #draft(chunk: Extract<ChunkEvent, { type: "draft-call" }>): readonly Progress[] {
    const { messageId, toolCallId, name, text } = chunk;
    return [
      ...this.#call({ type: "tool-call", messageId, toolCallId, name }),
      ...this.#arguments({ type: "tool-call-delta", messageId, toolCallId, text, offset: 0 }),
    ];
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
