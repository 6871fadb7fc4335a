import type { LlmCaller } from "@moora/llm";
import { answers } from "@moora/llm/testing";

/** A model whose chunks a test writes. Each answer is all that was written for it. */
export class HandWriter implements LlmCaller {
  readonly name = "hand";
  #text = "";
  #write: (text: string) => void = () => undefined;
  #end: () => void = () => undefined;
  #begun = Promise.withResolvers<void>();

  async call(...[, options = {}]: Parameters<LlmCaller["call"]>): ReturnType<LlmCaller["call"]> {
    const ended = Promise.withResolvers<void>();
    this.#text = "";
    this.#write = (text) => options.onChunk?.({ type: "text", text });
    this.#end = ended.resolve;
    this.#begun.resolve();
    await ended.promise;
    this.#begun = Promise.withResolvers<void>();
    return answers(this.#text);
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  write(text: string): void {
    this.#text += text;
    this.#write(text);
  }

  end(): void {
    this.#end();
  }
}
