import type { Choose } from "@moora/agent-testing";
import type { LlmCaller, LlmChunk, LlmOutcome } from "@moora/llm";
import { answers } from "@moora/llm/testing";

type OnChunk = (chunk: LlmChunk) => void;

/** A model that writes what a test draws: pieces of reasoning, text and calls in any order. */
export class WritingLlm implements LlmCaller {
  readonly name = "writing";
  /** What was written so far. */
  text = "";
  reasoning = "";
  readonly calls: string[] = [];
  #written = 0;
  #onChunk: OnChunk | undefined;
  readonly #end = Promise.withResolvers<LlmOutcome>();

  async call(...[, { onChunk, signal } = {}]: Parameters<LlmCaller["call"]>): Promise<LlmOutcome> {
    this.#onChunk = onChunk ?? (() => undefined);
    signal?.addEventListener("abort", () => this.end());
    return await this.#end.promise;
  }

  get hasBegun(): boolean {
    return this.#onChunk !== undefined;
  }

  write(choose: Choose): void {
    const piece = `w${(this.#written += 1)}.`;
    const kind = choose(7);
    if (kind < 3) this.#reason(piece, choose(2));
    else if (kind < 5) this.#write(piece);
    else if (kind < 6 && this.calls.length < 3) this.#begin();
    else this.#continue(piece, choose(this.calls.length));
  }

  end(): void {
    this.#end.resolve(answers(this.text));
  }

  #reason(text: string, index: number): void {
    this.reasoning += text;
    this.#onChunk?.({ type: "reasoning", index, text });
  }

  #write(text: string): void {
    this.text += text;
    this.#onChunk?.({ type: "text", index: 2, text });
  }

  #begin(): void {
    this.calls.push("");
    this.#onChunk?.({ type: "tool-call", index: 2 + this.calls.length, name: "look" });
  }

  #continue(text: string, position: number): void {
    const known = this.calls[position];
    if (known === undefined) return;
    this.calls[position] = known + text;
    this.#onChunk?.({ type: "tool-call-delta", index: 3 + position, text });
  }
}
