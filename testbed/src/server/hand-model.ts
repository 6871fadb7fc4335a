import type { Json, LlmCaller, LlmChunk, LlmOutcome } from "@moora/llm";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { turn, untilPasses, type TestClock } from "../test-clock.ts";

/** A model whose chunks and outcomes a test writes, one attempt after the other. */
export class HandModel implements LlmCaller {
  readonly name = "hand";
  readonly #attempts: Attempt[] = [];

  call(...[, { onChunk = () => undefined, signal } = {}]: Parameters<LlmCaller["call"]>) {
    const attempt = new Attempt(onChunk);
    signal?.addEventListener("abort", () => attempt.fail("aborted"));
    this.#attempts.push(attempt);
    return attempt.outcome;
  }

  /** The attempt of this number, from 1, when it has begun. Moves a clock as long as it has not. */
  async attempt(number: number, clock?: TestClock): Promise<Attempt> {
    for (let seconds = 0; seconds < 60; seconds += 1) {
      if (clock === undefined || this.#attempts.length >= number) break;
      await clock.advanceAsync(1_000);
      await turn();
    }
    await untilPasses(() => void this.#begun(number));
    return this.#begun(number);
  }

  #begun(number: number): Attempt {
    const attempt = this.#attempts[number - 1];
    if (attempt === undefined) throw new Error(`Attempt ${number} has not begun.`);
    return attempt;
  }
}

class Attempt {
  readonly #onChunk: (chunk: LlmChunk) => void;
  readonly #settled = Promise.withResolvers<LlmOutcome>();
  readonly #calls: { readonly name: string; arguments: string }[] = [];
  #reasoning = "";
  #text = "";

  constructor(onChunk: (chunk: LlmChunk) => void) {
    this.#onChunk = onChunk;
  }

  get outcome(): Promise<LlmOutcome> {
    return this.#settled.promise;
  }

  reason(text: string): void {
    this.#reasoning += text;
    this.#onChunk({ type: "reasoning", index: 0, text });
  }

  write(text: string): void {
    this.#text += text;
    this.#onChunk({ type: "text", index: 1, text });
  }

  /** Begins a call with the beginning of its arguments. */
  begin(name: string, given: string): void {
    this.#calls.push({ name, arguments: "" });
    this.#onChunk({ type: "tool-call", index: 1 + this.#calls.length, name });
    this.continue(this.#calls.length - 1, given);
  }

  /** Continues the arguments of a call. */
  continue(position: number, text: string): void {
    const call = this.#calls[position];
    if (call === undefined) throw new Error(`There is no call ${position}.`);
    call.arguments += text;
    this.#onChunk({ type: "tool-call-delta", index: 2 + position, text });
  }

  /** Ends with everything that was written. */
  end(): void {
    const details = this.#reasoning === "" ? {} : { reasoning: this.#reasoning };
    const calls = this.#calls.map(({ name, arguments: text }) => ({
      name,
      arguments: JSON.parse(text) as Json,
    }));
    const ofCalls = { ...details, ...(this.#text === "" ? {} : { text: this.#text }) };
    this.#settled.resolve(calls.length > 0 ? callsTools(calls, ofCalls) : answers(this.#text, details));
  }

  fail(kind: Parameters<typeof fails>[0] = "overloaded"): void {
    this.#settled.resolve(fails(kind, { partial: this.#text }));
  }
}
