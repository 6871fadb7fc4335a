import type { Piece } from "./piece.ts";

/** A part of an answer that a model is writing. A call has the JSON text of its arguments so far. `pieces` only grows. */
export type DraftPart = { readonly pieces: readonly string[] } &
  /** `part` is its number in the answer, where the model counts its parts. Pieces of parts that are open together alternate. */
  (
    | { readonly kind: "text" | "reasoning"; readonly part: number | undefined }
    | { readonly kind: "call"; readonly toolCallId: string; readonly name: string }
  );

/** An answer that a model is writing, as far as it was streamed. `messageId` names the attempt. Its parts only grow. */
export interface AnswerDraft {
  readonly messageId: string;
  readonly parts: readonly DraftPart[];
  /** The length of everything that was written: equal for drafts of one attempt with the same parts. */
  readonly length: number;
}

/** A part to which pieces are added. */
type GrowingPart = DraftPart & { readonly pieces: string[] };

/** The arguments of a call that grow by pieces. */
interface Growing {
  readonly pieces: string[];
  length: number;
}

/**
 * Folds pieces into the answer that a model is writing. A piece may repeat what is there, as at the beginning of a stream; one after a
 * gap is left out, so that the text, the reasoning and the arguments are always the beginnings of those that the model writes.
 */
export class Draft implements AnswerDraft {
  #messageId = "";
  #parts: GrowingPart[] = [];
  #text = "";
  #reasoningLength = 0;
  /** Of arguments, and one for each call. */
  #callsLength = 0;
  #calls = new Map<string, Growing>();

  /** "" before the first piece. */
  get messageId(): string {
    return this.#messageId;
  }

  get parts(): readonly DraftPart[] {
    return this.#parts;
  }

  /** All text. */
  get text(): string {
    return this.#text;
  }

  get length(): number {
    return this.#text.length + this.#reasoningLength + this.#callsLength;
  }

  /** Adds a piece; the first one of another attempt begins anew. Returns what is new of it; undefined for nothing, and after a gap. */
  add(piece: Piece): Piece | undefined {
    if (piece.messageId !== this.#messageId) this.clear(piece.messageId);
    switch (piece.type) {
      case "LlmToken":
      case "LlmReasoning":
        return this.#addText(piece);
      case "LlmToolCall":
        return this.#addCall(piece);
      case "LlmToolCallDelta":
        return this.#addArguments(piece);
      case "LlmPartEnded":
        return piece.toolCallId === undefined || this.#calls.has(piece.toolCallId) ? piece : undefined;
    }
  }

  /** Whether text before this piece is missing. */
  lacksTextBefore({ type, messageId, ...piece }: Piece): boolean {
    const length = messageId === this.#messageId ? this.#text.length : 0;
    return type === "LlmToken" && "offset" in piece && piece.offset > length;
  }

  /** Drops what was written. */
  clear(messageId = ""): void {
    this.#messageId = messageId;
    this.#parts = [];
    this.#text = "";
    this.#reasoningLength = 0;
    this.#callsLength = 0;
    this.#calls = new Map();
  }

  #addText(piece: Extract<Piece, { type: "LlmToken" | "LlmReasoning" }>): Piece | undefined {
    const isText = piece.type === "LlmToken";
    const kind = isText ? "text" : "reasoning";
    const offset = isText ? this.#text.length : this.#reasoningLength;
    const text = textAfter(piece, offset);
    if (text === "") return undefined;
    if (isText) this.#text += text;
    else this.#reasoningLength += text.length;
    const last = this.#parts.at(-1);
    if (last?.kind === kind && last.part === piece.part) last.pieces.push(text);
    else this.#parts.push({ kind, part: piece.part, pieces: [text] });
    return { ...piece, text, offset };
  }

  #addCall(piece: Extract<Piece, { type: "LlmToolCall" }>): Piece | undefined {
    const { toolCallId, name } = piece;
    if (toolCallId === undefined) return piece;
    if (this.#calls.has(toolCallId)) return undefined;
    const pieces: string[] = [];
    this.#callsLength += 1;
    this.#calls.set(toolCallId, { pieces, length: 0 });
    this.#parts.push({ kind: "call", toolCallId, name, pieces });
    return piece;
  }

  #addArguments(piece: Extract<Piece, { type: "LlmToolCallDelta" }>): Piece | undefined {
    const call = this.#calls.get(piece.toolCallId);
    if (call === undefined) return undefined;
    const { length: offset } = call;
    const text = textAfter(piece, offset);
    if (text === "") return undefined;
    call.pieces.push(text);
    call.length += text.length;
    this.#callsLength += text.length;
    return { ...piece, text, offset };
  }
}

/** The end of a piece after a text of this length; empty if there is none, or if a piece before it is missing. */
const textAfter = ({ offset, text }: { readonly offset: number; readonly text: string }, length: number) =>
  offset > length ? "" : text.slice(length - offset);

/** The pieces that lead to a draft, in its order. */
export function draftToPieces({ messageId, parts }: Omit<AnswerDraft, "length">): readonly Piece[] {
  const offsets = { text: 0, reasoning: 0 };
  return parts.flatMap((part): readonly Piece[] => {
    const text = part.pieces.join("");
    if (part.kind === "call") {
      const { toolCallId, name } = part;
      const call = { type: "LlmToolCall", messageId, toolCallId, name } as const;
      return text === ""
        ? [call]
        : [call, { type: "LlmToolCallDelta", messageId, toolCallId, text, offset: 0 }];
    }
    const type = part.kind === "text" ? "LlmToken" : "LlmReasoning";
    const offset = offsets[part.kind];
    offsets[part.kind] += text.length;
    return [{ type, messageId, ...(part.part === undefined ? {} : { part: part.part }), text, offset }];
  });
}

/** What a piece of a text, of reasoning or of arguments has, also as a chunk. */
interface Continued {
  readonly type: string;
  readonly messageId: string;
  readonly part?: number;
  readonly toolCallId?: string;
  readonly text: string;
  readonly offset: number;
}

const isContinued = (value: object): value is Continued => "offset" in value;

/** Two pieces as one, if the second continues the first; undefined for others. Takes events and chunks. */
export function joinPieces<Each extends object>(one: Each, other: Each): Each | undefined {
  if (!isContinued(one) || !isContinued(other)) return undefined;
  const { type, messageId, part, toolCallId, offset } = other;
  const isNext =
    one.type === type &&
    one.messageId === messageId &&
    one.part === part &&
    one.toolCallId === toolCallId &&
    one.offset + one.text.length === offset;
  return isNext ? { ...one, text: one.text + other.text } : undefined;
}
