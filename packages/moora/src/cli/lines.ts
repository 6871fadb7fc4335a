import { createInterface, type Interface } from "node:readline";
import type { CliHost } from "./cli-host.ts";

/** What came of waiting for a line. */
export type LineRead =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "end" }
  | { readonly type: "interrupted" }
  | { readonly type: "called-off" };

/**
 * Lines from a person or from a pipe, in order and none lost. A terminal is read only while a line is waited for: in
 * between it belongs to the shell, so that Ctrl-C is a signal again.
 */
export class Lines {
  private readonly host: CliHost;
  private readonly isTerminal: boolean;
  private readonly ready: string[] = [];
  private readonly history: string[] = [];
  private reader: Interface | undefined;
  private waiting: ((read: LineRead) => void) | undefined;
  private isOver = false;
  /** What stood in the line when it was let go, and what of it belongs to the next message. */
  private typed = "";
  private draft = "";

  constructor(host: CliHost) {
    this.host = host;
    this.isTerminal = host.stdin.isTTY === true && host.stderr.isTTY === true;
  }

  /**
   * The next line, to be had again by the arrow keys. The prompt is shown to people only. What is half typed when the line
   * is called off stands in the next one.
   */
  async message(prompt: string, signal?: AbortSignal): Promise<LineRead> {
    const read = await this.next(prompt, signal, this.draft);
    this.draft = read.type === "called-off" ? this.typed : "";
    if (read.type === "line" && read.text.trim() !== "") this.history.unshift(read.text);
    return read;
  }

  /** The next line. */
  async next(prompt: string, signal?: AbortSignal, draft: string = ""): Promise<LineRead> {
    const [text] = this.ready.splice(0, 1);
    if (text !== undefined) return { type: "line", text };
    if (this.isOver || this.host.stdin.readableEnded || this.host.stdin.destroyed) return { type: "end" };
    if (signal?.aborted === true) return { type: "called-off" };
    const read = Promise.withResolvers<LineRead>();
    const callOff = (): void => this.settle({ type: "called-off" });
    this.waiting = read.resolve;
    signal?.addEventListener("abort", callOff, { once: true });
    this.open(prompt, draft);
    try {
      return await read.promise;
    } finally {
      signal?.removeEventListener("abort", callOff);
      if (this.isTerminal) this.close();
    }
  }

  /** Lets the input go. */
  close(): void {
    const { reader } = this;
    this.reader = undefined;
    this.typed = reader?.line ?? "";
    reader?.close();
  }

  private open(prompt: string, draft: string): void {
    if (this.reader !== undefined) return;
    const { stdin, stderr } = this.host;
    // A copy: the reader puts every line into it, answers to questions too.
    const history = [...this.history];
    const reader = this.isTerminal
      ? createInterface({ input: stdin, output: stderr, terminal: true, prompt, history })
      : createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY, terminal: false });
    this.reader = reader;
    reader.on("line", (text) => this.take(text));
    reader.on("SIGINT", () => this.settle({ type: "interrupted" }));
    reader.on("close", () => this.closed(reader));
    if (!this.isTerminal) return;
    reader.prompt();
    reader.write(draft);
  }

  private take(text: string): void {
    if (this.waiting === undefined) this.ready.push(text);
    else this.settle({ type: "line", text });
  }

  private settle(read: LineRead): void {
    const { waiting } = this;
    this.waiting = undefined;
    // Nobody pressed Enter: what comes next begins in a line of its own.
    if (waiting !== undefined && read.type !== "line" && this.isTerminal) this.host.stderr.write("\n");
    waiting?.(read);
  }

  /** Closed by the other side: there is no more. Closed by us, a terminal is read again later. */
  private closed(reader: Interface): void {
    if (this.reader !== reader) return;
    this.reader = undefined;
    this.isOver = !this.isTerminal;
    this.settle({ type: "end" });
  }
}
