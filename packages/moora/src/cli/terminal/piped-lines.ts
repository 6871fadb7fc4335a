import { createInterface, type Interface } from "node:readline";
import type { CliHost } from "../cli-host.ts";
import type { LineRead, LineReader, ReplyRequest } from "./line-reader.ts";

/** Lines of a pipe or a file. */
export class PipedLines implements LineReader {
  readonly isTerminal = false;
  readonly #stdin: CliHost["stdin"];
  #reader: Interface | undefined;
  #lines: AsyncIterator<string, unknown, undefined> | undefined;
  /** The next line, which a read that was canceled leaves to the one after it. */
  #next: Promise<LineRead> | undefined;

  constructor({ stdin }: Pick<CliHost, "stdin">) {
    this.#stdin = stdin;
  }

  async message(_prompt: string, signal?: AbortSignal): Promise<LineRead> {
    if (signal?.aborted === true) return { type: "canceled" };
    this.#next ??= this.#read();
    const canceled = Promise.withResolvers<LineRead>();
    const cancel = (): void => canceled.resolve({ type: "canceled" });
    signal?.addEventListener("abort", cancel, { once: true });
    const read = await Promise.race([this.#next, canceled.promise]);
    signal?.removeEventListener("abort", cancel);
    if (read.type === "line") this.#next = undefined;
    return read;
  }

  reply({ signal }: ReplyRequest): Promise<LineRead> {
    return this.message("", signal);
  }

  collect(): void {}

  clear(): void {}

  redraw(): void {}

  close(): void {
    this.#reader?.close();
  }

  async #read(): Promise<LineRead> {
    if (this.#lines === undefined && (this.#stdin.readableEnded || this.#stdin.destroyed))
      return { type: "end" };
    this.#reader ??= createInterface({
      input: this.#stdin,
      crlfDelay: Number.POSITIVE_INFINITY,
      terminal: false,
    });
    this.#lines ??= this.#reader[Symbol.asyncIterator]();
    const { done, value } = await this.#lines.next();
    return done === true ? { type: "end" } : { type: "line", text: value };
  }
}
