import type { AgentEvent, AgentState } from "@moora/agent";
import { answerMessageId, type StreamedReasoning } from "@moora/agent/internal";

/** A part of an answer that a model is writing. A call has the JSON text of its arguments so far. */
export type DraftPart = { readonly pieces: string[] } &
  /** `part` is its number in the answer, where the model counts its parts. */
  (
    | { readonly kind: "text" | "reasoning"; readonly part: number | undefined }
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

/** The end of a text that begins at `offset`, after the length that is known; undefined if there is none, or if a part before is missing. */
export function newText(
  { offset, text }: { readonly offset: number; readonly text: string },
  known: number,
): string | undefined {
  return offset > known || offset + text.length <= known ? undefined : text.slice(known - offset);
}

/**
 * Keeps the draft of a session: what the events of its newest attempt have streamed. An event after a gap is left out, so that the
 * text, the reasoning and the arguments of a draft are always the beginnings of those that the model writes.
 */
export class DraftKeeper {
  #messageId: string | undefined;
  #parts: DraftPart[] = [];
  #draft: AnswerDraft | undefined;
  /** The lengths of the text and the reasoning so far, and of the arguments of each call. */
  #lengths = { text: 0, reasoning: 0 };
  #calls = new Map<string, { readonly pieces: string[]; length: number }>();

  /** Begins with the text that was streamed before; null if there is none. */
  begin(streaming: { readonly messageId: string; readonly text: string } | null): void {
    this.#clear(undefined);
    if (streaming !== null) this.add({ type: "LlmToken", ...streaming, offset: 0 });
  }

  add(event: AgentEvent<unknown>): void {
    if (event.type === "LlmToken") this.#addText("text", event);
    else if (event.type === "LlmReasoning") this.#addText("reasoning", event);
    else if (event.type === "LlmToolCallDelta") this.#addArguments(event);
    else if (event.type === "LlmToolCall") this.#addCall(event);
  }

  /** The draft, if it is of the answer that the model writes at this state. */
  draftAt({ reActContext }: Pick<AgentState, "reActContext">): AnswerDraft | undefined {
    const { control } = reActContext;
    if (control.type !== "Planning" || this.#messageId === undefined) return undefined;
    return answerMessageId(reActContext, control) === this.#messageId ? this.#draft : undefined;
  }

  /** Drops the draft if the model does not write it any more at this state. */
  follow(state: Pick<AgentState, "reActContext">): void {
    if (this.#messageId !== undefined && this.draftAt(state) === undefined) this.#clear(undefined);
  }

  #clear(messageId: string | undefined): void {
    this.#messageId = messageId;
    this.#parts = [];
    this.#draft = messageId === undefined ? undefined : { messageId, parts: this.#parts };
    this.#lengths = { text: 0, reasoning: 0 };
    this.#calls = new Map();
  }

  #partsOf(messageId: string): DraftPart[] {
    if (this.#messageId !== messageId) this.#clear(messageId);
    return this.#parts;
  }

  #addText(
    kind: "text" | "reasoning",
    event: Extract<AgentEvent<unknown>, { type: "LlmToken" | "LlmReasoning" }>,
  ): void {
    const parts = this.#partsOf(event.messageId);
    const text = newText(event, this.#lengths[kind]);
    if (text === undefined) return;
    this.#lengths[kind] += text.length;
    const last = parts.at(-1);
    if (last?.kind === kind && last.part === event.part) last.pieces.push(text);
    else parts.push({ kind, part: event.part, pieces: [text] });
  }

  #addCall({ messageId, toolCallId, name }: Extract<AgentEvent<unknown>, { type: "LlmToolCall" }>): void {
    const parts = this.#partsOf(messageId);
    if (toolCallId === undefined || this.#calls.has(toolCallId)) return;
    const pieces: string[] = [];
    this.#calls.set(toolCallId, { pieces, length: 0 });
    parts.push({ kind: "call", toolCallId, name, pieces });
  }

  #addArguments(event: Extract<AgentEvent<unknown>, { type: "LlmToolCallDelta" }>): void {
    this.#partsOf(event.messageId);
    const call = this.#calls.get(event.toolCallId);
    const text = call === undefined ? undefined : newText(event, call.length);
    if (call === undefined || text === undefined) return;
    call.pieces.push(text);
    call.length += text.length;
  }
}
