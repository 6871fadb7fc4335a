import { createInterface, type Interface } from "node:readline";
import type { CliHost } from "../cli-host.ts";
import type { LineRead, LineReader, ReplyRequest } from "./line-read.ts";

/** Lines of a pipe or a file. */
export class PipedLines implements LineReader {
  readonly isTerminal = false;
  readonly #stdin: CliHost["stdin"];
  readonly #ready: string[] = [];
  #reader: Interface | undefined;
  #waiting: ((read: LineRead) => void) | undefined;
  #isEnded = false;

  constructor({ stdin }: Pick<CliHost, "stdin">) {
    this.#stdin = stdin;
  }

  message(_prompt: string, signal?: AbortSignal): Promise<LineRead> {
    return this.#next(signal);
  }

  reply({ signal }: ReplyRequest): Promise<LineRead> {
    return this.#next(signal);
  }

  collect(): void {}

  clear(): void {}

  redraw(): void {}

  close(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.close();
  }

  async #next(signal?: AbortSignal): Promise<LineRead> {
    const text = this.#ready.shift();
    if (text !== undefined) return { type: "line", text };
    if (this.#isEnded || this.#stdin.readableEnded || this.#stdin.destroyed) return { type: "end" };
    if (signal?.aborted === true) return { type: "canceled" };
    const read = Promise.withResolvers<LineRead>();
    const cancel = (): void => this.#settle({ type: "canceled" });
    this.#waiting = read.resolve;
    signal?.addEventListener("abort", cancel, { once: true });
    this.#open();
    try {
      return await read.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  #open(): void {
    if (this.#reader !== undefined) return;
    const reader = createInterface({
      input: this.#stdin,
      crlfDelay: Number.POSITIVE_INFINITY,
      terminal: false,
    });
    this.#reader = reader;
    reader.on("line", (text) => {
      if (this.#waiting === undefined) this.#ready.push(text);
      else this.#settle({ type: "line", text });
    });
    reader.on("close", () => {
      this.#isEnded = true;
      this.#settle({ type: "end" });
    });
  }

  #settle(read: LineRead): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(read);
  }
}
