import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { CliHost } from "../cli-host.ts";
import { escapeControlCharacters } from "./screen.ts";
import type { LineRead, LineReader, ReplyRequest } from "./line-reader.ts";

/** How long a terminal may take to deliver text that was typed before. */
const takeTypedMs = 50;

/** A line that was typed before it was asked for. */
interface TypedLine {
  readonly text: string;
  /** Whether the terminal has shown it. */
  readonly isShown: boolean;
}

/** The options of an open reader. */
interface OpenLine {
  readonly prompt: string;
  readonly text: string;
  readonly history: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** Lines that a user types in a terminal. */
export class TerminalLines implements LineReader {
  readonly isTerminal = true;
  readonly #host: CliHost;
  readonly #onInterrupt: () => void;
  readonly #ready: TypedLine[] = [];
  readonly #history: string[] = [];
  #reader: Interface | undefined;
  #isReaderShown = false;
  #waiting: ((read: LineRead) => void) | undefined;
  /** The beginning of the next message. */
  #draft = "";
  #isCollecting = false;
  #isEnded = false;

  constructor(host: CliHost, onInterrupt: () => void) {
    this.#host = host;
    this.#onInterrupt = onInterrupt;
  }

  async message(prompt: string, signal?: AbortSignal): Promise<LineRead> {
    this.#isCollecting = false;
    this.#keepDraft();
    const next = this.#ready.shift();
    if (next !== undefined) {
      if (!next.isShown) this.#host.stderr.write(escapeControlCharacters(`${prompt}${next.text}\n`));
      return this.#addToHistory(next.text);
    }
    const [read, rest] = await this.#read({ prompt, text: this.#draft, history: this.#history, signal });
    this.#draft = rest;
    return read.type === "line" ? this.#addToHistory(read.text) : read;
  }

  async reply(request: ReplyRequest): Promise<LineRead> {
    if (request.isNew && !this.#isCollecting) await this.#takeTyped();
    this.#keepDraft();
    const read = request.isNew ? await this.#firstReply(request) : await this.#nextReply(request);
    if (this.#isCollecting) this.collect();
    return read;
  }

  collect(): void {
    this.#isCollecting = true;
    this.#openHidden();
  }

  #openHidden(): void {
    if (this.#reader !== undefined || this.#isEnded) return;
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const reader = this.#open(nowhere, this.#history);
    reader.on("SIGINT", this.#onInterrupt);
    reader.write(this.#draft);
  }

  clear(): void {
    if (this.#reader === undefined || !this.#isReaderShown) return;
    const { rows } = this.#reader.getCursorPos();
    this.#host.stderr.write(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`);
  }

  redraw(): void {
    if (this.#reader === undefined || !this.#isReaderShown) return;
    // The reader goes up as many rows as it had shown before it draws itself again.
    this.#host.stderr.write("\n".repeat(this.#reader.getCursorPos().rows));
    this.#reader.prompt(true);
  }

  close(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.close();
  }

  /** Reads pending text from the terminal: text typed before the question appeared must not answer it. */
  async #takeTyped(): Promise<void> {
    this.#openHidden();
    await new Promise<void>((resolve) => void this.#host.clock.after(takeTypedMs, resolve));
  }

  /** Stops collecting, and keeps the text typed so far as the draft. */
  #keepDraft(): void {
    if (this.#reader === undefined) return;
    this.#draft = this.#reader.line;
    this.close();
  }

  /**
   * A user who was typing a message when the question appeared may complete it before seeing the question. A line that begins
   * with that text is a message, not a reply.
   */
  async #firstReply({ prompt, signal }: ReplyRequest): Promise<LineRead> {
    for (;;) {
      const draft = this.#draft;
      const [read, rest] = await this.#read({ prompt, text: draft, history: [], signal });
      const isMessage = read.type === "line" && draft !== "" && read.text.startsWith(draft);
      // Without a draft, the rest is an incomplete reply.
      this.#draft = read.type === "line" || draft !== "" ? rest : "";
      if (isMessage) this.#ready.push({ text: read.text, isShown: true });
      else return read;
    }
  }

  async #nextReply({ prompt, prefill, signal }: ReplyRequest): Promise<LineRead> {
    const [read] = await this.#read({ prompt, text: prefill, history: [], signal });
    return read;
  }

  #addToHistory(text: string): LineRead {
    if (text.trim() !== "") this.#history.unshift(text);
    return { type: "line", text };
  }

  /** One line, and the text typed after it. Without a line, all text typed. */
  async #read({ prompt, text, history, signal }: OpenLine): Promise<readonly [LineRead, string]> {
    if (this.#isEnded || this.#host.stdin.readableEnded || this.#host.stdin.destroyed)
      return [{ type: "end" }, text];
    if (signal?.aborted === true) return [{ type: "canceled" }, text];
    const read = Promise.withResolvers<LineRead>();
    const cancel = (): void => this.#settle({ type: "canceled" });
    this.#waiting = read.resolve;
    signal?.addEventListener("abort", cancel, { once: true });
    const reader = this.#open(this.#host.stderr, history);
    this.#isReaderShown = true;
    reader.on("SIGINT", () => this.#settle({ type: "interrupted" }));
    reader.setPrompt(prompt);
    reader.prompt();
    reader.write(text);
    try {
      return [await read.promise, reader.line];
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#isReaderShown = false;
      this.close();
    }
  }

  #open(output: Writable, history: readonly string[]): Interface {
    // A copy of the history: the reader adds every line to it.
    const reader = createInterface({
      input: this.#host.stdin,
      output,
      terminal: true,
      history: [...history],
    });
    this.#reader = reader;
    reader.on("line", (text) => this.#take(text));
    reader.on("close", () => this.#closed(reader));
    return reader;
  }

  #take(text: string): void {
    if (this.#waiting !== undefined) this.#settle({ type: "line", text });
    else if (text.trim() !== "") this.#ready.push({ text, isShown: this.#isReaderShown });
  }

  #settle(read: LineRead): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    // Enter was not pressed: start a new line for the next output.
    if (waiting !== undefined && read.type !== "line") this.#host.stderr.write("\n");
    waiting?.(read);
  }

  /** Ctrl-D. While lines are collected, it ends the input after them. */
  #closed(reader: Interface): void {
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    if (this.#waiting === undefined) this.#isEnded = true;
    this.#settle({ type: "end" });
  }
}
