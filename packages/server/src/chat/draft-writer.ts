import type { AnswerDraft, DraftPart } from "@moora/agent-webui-protocol";
import { callsOf, partsOfTurn, reasoningId, type MessagePart, type Turn } from "./loop-turns.ts";
import type { UiChunk } from "./ui-chunk.ts";

interface WrittenPart {
  readonly part: DraftPart;
  /** How many of its pieces were written. */
  count: number;
}

interface Passage {
  readonly kind: MessagePart["kind"];
  text: string;
}

/**
 * Writes the texts and the reasoning of one message, of which one is open at a time. Writes the answer that a model is writing, and completes
 * it when its turn is in the log.
 */
export class DraftWriter {
  readonly #write: (chunk: UiChunk) => void;
  /** The part that is open. */
  #open: MessagePart | undefined;
  /** The attempt that is being written. */
  #messageId = "";
  /** Identifies the turn in the ids of its reasoning. */
  #turnId = "";
  #written: WrittenPart[] = [];

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

  /** Takes back what was written of a draft: the model writes it again. Its parts must not be ended. */
  reset(): void {
    if (this.#written.length === 0) return;
    this.clear();
    this.#open = undefined;
    this.#write({ type: "reset-step" });
  }

  get hasCalls(): boolean {
    return this.#written.some(({ part }) => part.kind === "call");
  }

  /** Whether the client has something of another attempt. */
  isOther({ messageId }: Pick<AnswerDraft, "messageId">): boolean {
    return this.#written.length > 0 && this.#messageId !== messageId;
  }

  /** How much of the text of an answer the client has. */
  textLength(messageId: string): number {
    if (this.#messageId !== messageId) return 0;
    return lengthOf(this.#passages.filter(({ kind }) => kind === "text"));
  }

  /** Writes what is new in a draft. `turnIdOf` returns what identifies its turn. */
  update({ messageId, parts }: AnswerDraft, turnIdOf: () => string): void {
    if (this.#written.length === 0) this.#turnId = turnIdOf();
    this.#messageId = messageId;
    let reasonings = 0;
    for (const [index, part] of parts.entries()) {
      if (part.kind === "reasoning") reasonings += 1;
      const written = (this.#written[index] ??= this.#begin(part));
      const added = part.pieces.slice(written.count).join("");
      written.count = part.pieces.length;
      if (part.kind === "call") this.#writeArguments(part.toolCallId, added);
      else if (part.kind === "text") this.write({ kind: "text", id: messageId }, added);
      else this.write({ kind: "reasoning", id: reasoningId(this.#turnId, reasonings) }, added);
    }
  }

  #begin(part: DraftPart): WrittenPart {
    if (part.kind === "call") {
      this.close();
      const { toolCallId, name: toolName } = part;
      this.#write({ type: "tool-input-start", toolCallId, toolName });
    }
    return { part, count: 0 };
  }

  #writeArguments(toolCallId: string, inputTextDelta: string): void {
    if (inputTextDelta !== "") this.#write({ type: "tool-input-delta", toolCallId, inputTextDelta });
  }

  /** Whether what the client has of a draft is the beginning of this turn. */
  isBeginningOf(turn: Turn): boolean {
    const calls = new Set(callsOf(turn));
    if (this.#written.some(({ part }) => part.kind === "call" && !calls.has(part.toolCallId))) return false;
    const passages = passagesOf(partsOfTurn(turn, ""));
    return this.#passagesIn(turn).every(({ kind, text }, index, { length }) => {
      const passage = passages[index];
      if (passage?.kind !== kind) return false;
      return index === length - 1 ? passage.text.startsWith(text) : passage.text === text;
    });
  }

  /** Writes what the client does not have of the texts and the reasoning of a turn. */
  complete(turn: Turn, turnId: string): void {
    let skipped = lengthOf(this.#passagesIn(turn));
    for (const { text, ...part } of partsOfTurn(turn, turnId)) {
      this.write(part, text.slice(skipped));
      skipped = Math.max(0, skipped - text.length);
    }
    this.close();
    this.clear();
  }

  clear(): void {
    this.#written = [];
  }

  /** What the client has of the texts and the reasoning. Reasoning stays where the turn has none, as one that was cut off. */
  #passagesIn({ parts }: Turn): readonly Passage[] {
    if (parts.some(({ type }) => type === "reasoning")) return this.#passages;
    return passagesOf(this.#passages.filter(({ kind }) => kind === "text"));
  }

  get #passages(): readonly Passage[] {
    return passagesOf(
      this.#written.flatMap(({ part, count }) =>
        part.kind === "call" || count === 0
          ? []
          : [{ kind: part.kind, text: part.pieces.slice(0, count).join("") }],
      ),
    );
  }
}

const lengthOf = (passages: readonly Passage[]): number =>
  passages.reduce((sum, { text }) => sum + text.length, 0);

/** Joins neighbors of one kind: not every model counts its parts. */
function passagesOf(parts: readonly Readonly<Passage>[]): readonly Passage[] {
  const passages: Passage[] = [];
  for (const { kind, text } of parts) {
    const last = passages.at(-1);
    if (last?.kind === kind) last.text += text;
    else passages.push({ kind, text });
  }
  return passages;
}
