import type { AgentEvent, DurableSession, Question } from "@moora/agent";
import {
  answerMessageId,
  Draft,
  openCallsOf,
  questionEvent,
  ShownQuestions,
  type LiveChunk,
  type LiveText,
  type ViewedSession,
} from "@moora/agent/internal";
import { chunkToProgress, questionKey, type AnswerDraft, type Piece } from "@moora/agent-webui-protocol";

/** The answer that a server receives, and the process that writes it. The text of another one may differ. */
export class ReceivedDraft {
  readonly draft = new Draft();
  #feed = "";

  /** Adds a piece. Returns what is new of it. */
  add(feed: string, piece: Piece): Piece | undefined {
    if (piece.messageId !== this.draft.messageId) this.#feed = feed;
    return this.#feed === feed ? this.draft.add(piece) : undefined;
  }
}

export interface FeedOptions {
  /** The key of the session among servers. */
  readonly key: string;
  /** The most UTF-16 code units that wait for records. */
  readonly maxHeld: number;
  readonly received: ReceivedDraft;
  readonly emit: (event: AgentEvent<unknown>) => void;
  /** Asks the owner for what is missing. */
  readonly ask: () => void;
}

/** The beginning of an answer of the owner, with the keys of all questions that are open, or a chunk. */
type Item = LiveChunk | { readonly type: "begin"; readonly open: ReadonlySet<string> };

interface Held {
  readonly item: Item;
  readonly feed: string;
  readonly seq: number;
  readonly length: number;
}

/**
 * What the owner of a session streams, for the viewers at this server. Each chunk waits for the records that were before it. A chunk
 * whose message or call has ended is dropped; so is a text of which the part before is missing.
 */
export class LiveFeed {
  readonly #session: DurableSession<unknown>;
  readonly #options: FeedOptions;
  readonly #questions = new ShownQuestions();
  readonly #stopListening: () => void;
  #held: Held[] = [];
  #heldLength = 0;
  #hasBegun = false;
  /** Whether a part of the text is missing that the owner was asked for. */
  #isMissing = false;
  #isDraining = false;

  constructor(session: DurableSession<unknown>, options: FeedOptions) {
    this.#session = session;
    this.#options = options;
    this.#stopListening = session.onInput(({ type }) => {
      // Another owner: it does not know of these viewers.
      if (type === "session-opened") {
        this.#hasBegun = false;
        options.ask();
      }
      this.#drainSoon();
    });
  }

  /** What the viewers have, for the owner. */
  get viewed(): ViewedSession {
    const { key, received } = this.#options;
    const { messageId, length } = received.draft;
    return {
      session: key,
      messageId: messageId === "" ? null : messageId,
      length,
      isAsked: this.#questions.all.length > 0,
      isNew: !this.#hasBegun,
    };
  }

  /** What the model has written of its answer. */
  get draft(): AnswerDraft | undefined {
    const { draft } = this.#options.received;
    return this.#isAttempt(draft.messageId) ? draft : undefined;
  }

  /** Whether the owner has sent the questions that are open. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The open questions of sub-agents. */
  get questions(): readonly Question[] {
    return this.#questions.all.filter(({ path }) => this.#isOpen(path[0]));
  }

  receive({ type, feed, seq, chunks }: LiveText): void {
    const asked = chunks.flatMap((chunk) => (chunk.type === "question" ? [questionKey(chunk)] : []));
    const items: Item[] = type === "begin" ? [{ type, open: new Set(asked) }, ...chunks] : [...chunks];
    const { length } = JSON.stringify(chunks);
    if (this.#heldLength + length > this.#options.maxHeld) this.#dropHeld();
    for (const item of items) this.#held.push({ item, feed, seq, length: length / items.length });
    this.#heldLength += length;
    this.#drain();
  }

  close(): void {
    this.#stopListening();
    this.#dropHeld();
  }

  #dropHeld(): void {
    this.#held = [];
    this.#heldLength = 0;
  }

  /** After the listeners of the session: a viewer has a record before what follows it. */
  #drainSoon(): void {
    if (this.#isDraining || this.#held.length === 0) return;
    this.#isDraining = true;
    queueMicrotask(() => {
      this.#isDraining = false;
      this.#drain();
    });
  }

  #drain(): void {
    for (let [held] = this.#held; held !== undefined; [held] = this.#held) {
      const verdict = held.seq > this.#session.seq() ? "hold" : this.#verdictOf(held.item);
      if (verdict === "hold") return;
      this.#held.shift();
      this.#heldLength = this.#held.length === 0 ? 0 : this.#heldLength - held.length;
      if (verdict === "pass") this.#apply(held);
    }
  }

  /** What becomes of a chunk at a state that is not before it. A text waits for the record of the beginning of its message. */
  #verdictOf(item: Item): "hold" | "pass" | "drop" {
    if (item.type === "begin" || item.type === "warning") return "pass";
    if ("path" in item) return this.#isOpen(item.path[0]) ? "pass" : "drop";
    if (!("messageId" in item)) return this.#isOpen(item.toolCallId) ? "pass" : "drop";
    if (!this.#isAttempt(item.messageId)) return "drop";
    const { control } = this.#session.current().reActContext;
    const hasBegun = control.type === "Planning" && control.messageId === item.messageId;
    return item.type === "text" && !hasBegun ? "hold" : "pass";
  }

  #isAttempt(messageId: string): boolean {
    const { reActContext } = this.#session.current();
    const { control } = reActContext;
    return control.type === "Planning" && answerMessageId(reActContext, control) === messageId;
  }

  #isOpen(toolCallId: string | undefined): boolean {
    return openCallsOf(this.#session.current().reActContext.control).some(({ id }) => id === toolCallId);
  }

  #apply({ item, feed }: Held): void {
    if (item.type === "begin") return this.#begin(item.open);
    if (item.type === "question") return this.#ask(item);
    if (item.type === "question-closed") return this.#closeQuestion(item);
    return this.#progress(feed, item);
  }

  #begin(open: ReadonlySet<string>): void {
    this.#hasBegun = true;
    this.#isMissing = false;
    // The others were answered.
    for (const question of this.#questions.all)
      if (!open.has(questionKey(question))) this.#closeQuestion(question);
  }

  #progress(feed: string, chunk: LiveChunk): void {
    const { received, emit, ask } = this.#options;
    const progress = chunkToProgress(chunk);
    if (progress === undefined) return;
    if (!("messageId" in progress)) return emit(progress);
    const isBeyond = received.draft.lacksTextBefore(progress);
    const added = received.add(feed, progress);
    if (added !== undefined) return emit(added);
    if (!isBeyond) return;
    if (!this.#isMissing) ask();
    this.#isMissing = true;
  }

  #ask(chunk: Extract<LiveChunk, { type: "question" }>): void {
    const question = this.#questions.add(chunk);
    if (question === undefined) return;
    const session = this.#session;
    this.#options.emit(questionEvent(question, (decision, by) => session.decide(question, decision, by)));
  }

  #closeQuestion({
    path,
    toolCallId,
    result,
  }: Omit<Extract<LiveChunk, { type: "question-closed" }>, "type">): void {
    const name = this.#questions.close({ path, toolCallId })?.name ?? "";
    const event =
      result === undefined
        ? ({ type: "ToolCallStarted", toolCallId, name, parameters: "" } as const)
        : ({ type: "ToolCallFinished", toolCallId, name, result } as const);
    this.#options.emit({ type: "SubAgentEvent", toolCallId: path[0] ?? "", path, event });
  }
}
