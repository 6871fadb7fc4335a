import type { AgentEvent, AgentState } from "@moora/agent";
import { answerMessageId, type StreamedReasoning } from "@moora/agent/internal";

/** A part of an answer that a model is writing. A call has the JSON text of its arguments so far. */
export type DraftPart = { readonly pieces: string[] } & (
  | { readonly kind: "text" }
  /** `part` is its number in the answer, where the model counts its parts. */
  | { readonly kind: "reasoning"; readonly part: number | undefined }
  | { readonly kind: "call"; readonly toolCallId: string; readonly name: string }
);

/** An answer that a model is writing, as far as it was streamed. `messageId` names the attempt. Its parts only grow. */
export interface AnswerDraft {
  readonly messageId: string;
  readonly parts: readonly DraftPart[];
}

/** The reasoning of a draft so far. */
export const reasoningOf = ({ messageId, parts }: AnswerDraft): StreamedReasoning => ({
  messageId,
  parts: parts.flatMap((part) =>
    part.kind === "reasoning" ? [{ part: part.part, text: part.pieces.join("") }] : [],
  ),
});

/** Keeps the draft of a session: what the events of its newest attempt have streamed. */
export class DraftKeeper {
  #messageId: string | undefined;
  #parts: DraftPart[] = [];
  #draft: AnswerDraft | undefined;

  /** Begins with the text that was streamed before; null if there is none. */
  begin(streaming: { readonly messageId: string; readonly text: string } | null): void {
    this.#messageId = undefined;
    this.#draft = undefined;
    if (streaming !== null) this.add({ type: "LlmToken", ...streaming });
  }

  add(event: AgentEvent<unknown>): void {
    if (event.type === "LlmToken") this.#textOf(event.messageId).push(event.text);
    else if (event.type === "LlmReasoning") this.#reasoningOf(event.messageId, event.part).push(event.text);
    else if (event.type === "LlmToolCallDelta")
      this.#callOf(event.messageId, event.toolCallId)?.pieces.push(event.text);
    else if (event.type === "LlmToolCall" && event.toolCallId !== undefined) {
      const { messageId, toolCallId, name } = event;
      this.#partsOf(messageId).push({ kind: "call", toolCallId, name, pieces: [] });
    }
  }

  /** The draft, if it is of the answer that the model writes at this state. */
  draftAt({ reActContext }: Pick<AgentState, "reActContext">): AnswerDraft | undefined {
    const { control } = reActContext;
    if (control.type !== "Planning" || this.#messageId === undefined) return undefined;
    return answerMessageId(reActContext, control) === this.#messageId ? this.#draft : undefined;
  }

  #partsOf(messageId: string): DraftPart[] {
    if (this.#messageId !== messageId) {
      this.#messageId = messageId;
      this.#parts = [];
      this.#draft = { messageId, parts: this.#parts };
    }
    return this.#parts;
  }

  #textOf(messageId: string): string[] {
    const parts = this.#partsOf(messageId);
    const last = parts.at(-1);
    if (last?.kind === "text") return last.pieces;
    const pieces: string[] = [];
    parts.push({ kind: "text", pieces });
    return pieces;
  }

  #reasoningOf(messageId: string, part: number | undefined): string[] {
    const parts = this.#partsOf(messageId);
    const last = parts.at(-1);
    if (last?.kind === "reasoning" && last.part === part) return last.pieces;
    const pieces: string[] = [];
    parts.push({ kind: "reasoning", part, pieces });
    return pieces;
  }

  #callOf(messageId: string, toolCallId: string): DraftPart | undefined {
    return this.#partsOf(messageId).find((part) => part.kind === "call" && part.toolCallId === toolCallId);
  }
}
