import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { checkOptions, optionForms } from "../check-options.ts";
import { chunkFeed } from "../chunk-feed.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import { LlmOptionError } from "../llm-option-error.ts";
import { abortedOutcome, streamParts } from "../combinators/play-outcome.ts";
import { noUsage, type LlmOutcome, type LlmUsage } from "../outcome.ts";
import type { LlmPart, LlmRequest } from "../request.ts";
import { usageForm } from "./outcomes.ts";
import { shownStep } from "./shown-step.ts";

/** What a scripted model does in one call: it returns an outcome, or waits until its signal is aborted. */
export type MockStep = LlmOutcome | MockHang;

/** A call that never ends by itself. Create it with `hangs`. */
export interface MockHang {
  /** The text that is streamed first. */
  readonly hangsAfter: string;
  readonly usage?: LlmUsage;
}

/**
 * A step that streams a text and then waits until the call is aborted. The failure reports `usage`. Time limits in the options of
 * the call do not end it: adapters of providers observe them, a script does not. Use `fails("timeout")` for a timeout.
 */
export function hangs(after: string = "", details: { readonly usage?: Partial<LlmUsage> } = {}): MockHang {
  checkOptions<typeof details>("hangs", details, { usage: usageForm });
  return { hangsAfter: after, ...(details.usage && { usage: { ...noUsage, ...details.usage } }) };
}

/** The steps of a scripted model: one for each call, or a function that returns the step of a call. */
export type MockScript =
  | readonly MockStep[]
  /** `call` starts at 0. */
  | ((request: LlmRequest, call: number) => MockStep | Promise<MockStep>);

/**
 * A scripted model for tests. It streams its answers word by word, checks the signal between the words, and records every
 * request. A call without a step left fails. A call that is aborted before it starts uses no step; one that is aborted later
 * reports the usage of its step.
 */
export class MockLlmCaller implements LlmCaller {
  readonly name: string = "mock";
  readonly model?: string;
  readonly #script: MockScript;
  readonly #requests: LlmRequest[] = [];
  readonly #options: LlmCallOptions[] = [];

  /**
   * `model` is the model for requests whose `model` is the empty string. Throws `LlmOptionError` for a script that is neither a
   * function nor a list of steps, and for an unknown option.
   */
  constructor(script: MockScript, options: { readonly model?: string } = {}) {
    checkScript(script);
    checkOptions<typeof options>("MockLlmCaller", options, { model: optionForms.string });
    const { model } = options;
    this.#script = script;
    if (model !== undefined) this.model = model;
  }

  /** The number of calls so far. */
  get callCount(): number {
    return this.#requests.length;
  }

  /** The requests so far, in order. */
  get requests(): readonly LlmRequest[] {
    return this.#requests;
  }

  /** The options of the calls so far, in order; those of `callSync` are empty. */
  get options(): readonly LlmCallOptions[] {
    return this.#options;
  }

  /** The model of a request; the first call is 0. Undefined if there was no such call. */
  modelForCall(call: number): string | undefined {
    return this.#requests[call]?.model;
  }

  async call(request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmOutcome> {
    if (options.signal?.aborted) return abortedOutcome();
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
            "The script returned a promise. Use call, or a script that returns a step.",
          ),
        );
      }
      return "hangsAfter" in step
        ? failedOutcome(
            failureOf("timeout", "The step waits for a signal, and callSync has none. Use call."),
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
    if (typeof this.#script !== "function") return this.#script[call] ?? exhaustedScript(call);
    const step = this.#script(request, call);
    return step instanceof Promise ? step.then(checkedStep) : checkedStep(step);
  }
}

const functions = 'Use answers("..."), callsTools([...]), fails("...") or hangs().';

/** Tests without types may pass any value. */
function checkScript(script: unknown): void {
  if (typeof script === "function") return;
  if (!Array.isArray(script))
    throw new LlmOptionError(`MockLlmCaller needs a list of steps or a function, got ${shownStep(script)}.`);
  const index = script.findIndex((step) => !isStep(step));
  if (index >= 0) {
    throw new LlmOptionError(
      `MockLlmCaller: step ${index + 1} must be an outcome, got ${shownStep(script[index])}. ${functions}`,
    );
  }
}

const checkedStep = (step: MockStep): MockStep =>
  isStep(step)
    ? step
    : failedOutcome(
        failureOf(
          "invalid-request",
          `MockLlmCaller: the script must return an outcome, got ${shownStep(step)}. ${functions}`,
        ),
      );

const isStep = (step: unknown): boolean =>
  typeof step === "object" && step !== null && ("ok" in step || "hangsAfter" in step);

const exhaustedScript = (call: number): LlmOutcome =>
  failedOutcome(
    failureOf(
      "invalid-request",
      `MockLlmCaller: call ${call + 1} has no step, the script has ${call}. Add a step.`,
    ),
  );

/** Sets the model of an answer to the requested one, unless the script sets another. */
const withModel = (outcome: LlmOutcome, model: string): LlmOutcome =>
  outcome.ok && outcome.model === "" ? { ...outcome, model } : outcome;

async function playStep(step: MockStep, model: string, options: LlmCallOptions): Promise<LlmOutcome> {
  const feed = chunkFeed(options.onChunk);
  const text = await streamParts(partsOf(step), feed, options.signal);
  if (options.signal?.aborted) return abortedOutcome(text, step.usage);
  if (!("hangsAfter" in step)) {
    feed.end();
    return withModel(step, model);
  }
  await new Promise<void>((resolve) => {
    options.signal?.addEventListener("abort", () => resolve(), { once: true });
  });
  return abortedOutcome(text, step.usage);
}

function partsOf(step: MockStep): readonly LlmPart[] {
  if ("hangsAfter" in step) return [{ type: "text", text: step.hangsAfter }];
  return step.ok ? step.turn.parts : [{ type: "text", text: step.partial }];
}
