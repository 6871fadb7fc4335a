import type { ChatPart, ToolCallPart } from "./chat.ts";

/** A text or a reasoning. `part` is its number in the answer; undefined where the model does not count its parts. */
interface TextEntry {
  readonly type: "text" | "reasoning";
  readonly part: number | undefined;
  readonly text: string;
}

type Entry = TextEntry | ToolCallPart;

interface Piece {
  readonly part?: number;
  readonly text: string;
}

/** The parts of an answer that a model is writing, in the order in which they begin. */
export class StreamedParts {
  #entries: readonly Entry[] = [];
  /** The length of all texts. */
  #length = 0;
  #reasoningLength = 0;

  get parts(): readonly ChatPart[] {
    return this.#entries.map((entry) =>
      entry.type === "tool-call" ? entry : { type: entry.type, text: entry.text },
    );
  }

  /** Whether there is something else than text. */
  get hasDrafts(): boolean {
    return this.#entries.some(({ type }) => type !== "text");
  }

  addText({ part, text }: Piece): void {
    this.#length += text.length;
    this.#add("text", part, text);
  }

  /** Adds reasoning. Returns false, and adds nothing, if the reasoning before it was not seen. */
  addReasoning({ part, text, offset }: Piece & { readonly offset: number }): boolean {
    if (offset !== this.#reasoningLength) return false;
    this.#reasoningLength += text.length;
    this.#add("reasoning", part, text);
    return true;
  }

  /** Adds a piece of a text or of a reasoning. Pieces of different parts may alternate. */
  #add(type: TextEntry["type"], part: number | undefined, text: string): void {
    const index = this.#indexOf(type, part);
    const known = this.#entries[index];
    if (known === undefined || known.type === "tool-call")
      this.#entries = [...this.#entries, { type, part, text }];
    else
      this.#entries = this.#entries.with(index, { type, part: known.part ?? part, text: known.text + text });
  }

  /** Completes the texts by `whole`, all text of the answer so far: its beginning may not have been seen. */
  complete(whole: string): void {
    const missing = whole.slice(0, Math.max(0, whole.length - this.#length));
    if (missing === "") return;
    this.#length += missing.length;
    const [first] = this.#entries;
    this.#entries =
      first?.type === "text"
        ? this.#entries.with(0, { ...first, text: missing + first.text })
        : [{ type: "text", part: undefined, text: missing }, ...this.#entries];
  }

  /** Adds a call, whose arguments are not written yet. */
  beginCall(toolCallId: string, name: string): void {
    const draft = { toolCallId, name, status: "drafting", parameters: "", input: undefined } as const;
    this.#entries = [...this.#entries, { type: "tool-call", ...draft, result: null, output: undefined }];
  }

  /** Adds a piece of the arguments of a call, which begins at `offset` of them; not one of which the piece before was not seen. */
  addArguments(toolCallId: string, offset: number, text: string): void {
    this.#entries = this.#entries.map((entry) =>
      entry.type === "tool-call" && entry.toolCallId === toolCallId && offset <= entry.parameters.length
        ? { ...entry, parameters: entry.parameters.slice(0, offset) + text }
        : entry,
    );
  }

  /** The index of the entry that a piece continues; -1 if it begins one. */
  #indexOf(type: TextEntry["type"], part: number | undefined): number {
    const own = this.#entries.findLastIndex(
      (entry) => entry.type === type && (part === undefined || entry.part === part),
    );
    if (own >= 0 || part === undefined) return own;
    // What was streamed before a page listens has no number: the first piece after it continues it.
    const last = this.#entries.length - 1;
    const entry = this.#entries[last];
    return entry?.type === type && entry.part === undefined ? last : -1;
  }
}
