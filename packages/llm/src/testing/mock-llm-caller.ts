import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { chunkFeed } from "../chunk-feed.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import { noUsage, type LlmOutcome, type LlmUsage } from "../outcome.ts";
import type { LlmPart, LlmRequest } from "../request.ts";

/** What a scripted model does at one call: an outcome, or `hangs` until its signal fires. */
export type MockStep = LlmOutcome | MockHang;

export interface MockHang {
  readonly hangsAfter: string;
  readonly usage?: LlmUsage;
}

/** A model that streams a text and then says nothing more until it is aborted; `usage` is what the failure reports then. */
export const hangs = (
  after: string = "",
  details: { readonly usage?: Partial<LlmUsage> } = {},
): MockHang => ({
  hangsAfter: after,
  ...(details.usage && { usage: { ...noUsage, ...details.usage } }),
});

export type MockScript =
  | readonly MockStep[]
  /** `call` counts from 0. */
  | ((request: LlmRequest, call: number) => MockStep | Promise<MockStep>);

/**
 * A model that does what its script says: a list, one step for each call, or a function of the request. It streams its
 * answers word by word, checks the signal between the words, and keeps every request. Past the end of its list it fails. A
 * call that is aborted before it begins takes no step; one that is aborted later reports the usage of its step.
 */
export class MockLlmCaller implements LlmCaller {
  readonly name: string = "mock";
  readonly model?: string;
  readonly #script: MockScript;
  readonly #requests: LlmRequest[] = [];
  readonly #options: LlmCallOptions[] = [];

  /** `model` is the one of requests that name none. */
  constructor(script: MockScript, { model }: { readonly model?: string } = {}) {
    this.#script = script;
    if (model !== undefined) this.model = model;
  }

  get callCount(): number {
    return this.#requests.length;
  }

  /** Every request so far, in order. */
  get requests(): readonly LlmRequest[] {
    return this.#requests;
  }

  /** The options of every call so far, in order; those of `callSync` are empty. */
  get options(): readonly LlmCallOptions[] {
    return this.#options;
  }

  /** The model that a call asked for; the first call is 0. Undefined when there was no such call. */
  modelForCall(call: number): string | undefined {
    return this.#requests[call]?.model;
  }

  async call(request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmOutcome> {
    if (options.signal?.aborted) return aborted("");
    try {
      return await playStep(await this.#step(request, options), this.#modelOf(request), options);
    } catch (error) {
      return failedOutcome(failureOf("unknown", `The script threw: ${String(error)}`));
    }
  }

  callSync(request: LlmRequest): LlmOutcome {
    try {
      const step = this.#step(request, {});
      if (step instanceof Promise) {
        step.catch(() => undefined);
        return failedOutcome(
          failureOf(
            "invalid-request",
            "This script answers later: use call, or a script that returns at once.",
          ),
        );
      }
      return "hangsAfter" in step
        ? failedOutcome(
            failureOf("timeout", "This step never answers, and callSync cannot be aborted."),
            step.hangsAfter,
          )
        : withModel(step, this.#modelOf(request));
    } catch (error) {
      return failedOutcome(failureOf("unknown", `The script threw: ${String(error)}`));
    }
  }

  #modelOf(request: LlmRequest): string {
    return request.model === "" ? (this.model ?? "") : request.model;
  }

  #step(request: LlmRequest, options: LlmCallOptions): MockStep | Promise<MockStep> {
    const call = this.#requests.length;
    this.#requests.push(request);
    this.#options.push(options);
    return typeof this.#script === "function"
      ? this.#script(request, call)
      : (this.#script[call] ?? exhaustedScript(call));
  }
}

const exhaustedScript = (call: number): LlmOutcome =>
  failedOutcome(
    failureOf(
      "invalid-request",
      `MockLlmCaller: call ${call + 1} has no step; its script has ${call}. Add one.`,
    ),
  );

/** An answer names the model that was asked for, unless its script names another. */
const withModel = (outcome: LlmOutcome, model: string): LlmOutcome =>
  outcome.ok && outcome.model === "" ? { ...outcome, model } : outcome;

async function playStep(step: MockStep, model: string, options: LlmCallOptions): Promise<LlmOutcome> {
  const feed = chunkFeed(options.onChunk);
  const text = await stream(partsOf(step), feed, options.signal);
  feed.end();
  if (options.signal?.aborted) return aborted(text, step.usage);
  if (!("hangsAfter" in step)) return withModel(step, model);
  await new Promise<void>((resolve) => {
    options.signal?.addEventListener("abort", () => resolve(), { once: true });
  });
  return aborted(text, step.usage);
}

const aborted = (partial: string, usage?: LlmUsage): LlmOutcome =>
  failedOutcome(failureOf("aborted", "The call was aborted."), partial, usage);

function partsOf(step: MockStep): readonly LlmPart[] {
  if ("hangsAfter" in step) return [{ type: "text", text: step.hangsAfter }];
  return step.ok ? step.turn.parts : [{ type: "text", text: step.partial }];
}

/** Streams the parts word by word and gives the text that got out before the signal fired. */
async function stream(
  parts: readonly LlmPart[],
  feed: ReturnType<typeof chunkFeed>,
  signal: AbortSignal | undefined,
): Promise<string> {
  let text = "";
  for (const part of parts) {
    const words = part.type === "text" || part.type === "reasoning" ? part.text.split(/(?<=\s)/) : [""];
    for (const word of words) {
      // Each word comes in a turn of its own, as it would from a network.
      await Promise.resolve();
      if (signal?.aborted) return text;
      if (part.type === "text") feed.text(word);
      if (part.type === "reasoning") feed.reasoning(word);
      if (part.type === "tool-call") feed.toolCall(part.name);
      if (part.type === "text") text += word;
    }
  }
  return text;
}
