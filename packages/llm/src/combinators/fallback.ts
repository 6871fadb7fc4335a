import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { checkOptions, optionForms, type OptionForms } from "../check-options.ts";
import { failureOf } from "../failure.ts";
import { LlmOptionError } from "../llm-option-error.ts";
import { addUsage, type LlmFailure, type LlmOutcome, type LlmUsage } from "../outcome.ts";
import type { LlmRequest } from "../request.ts";
import { withAnswerer } from "./answered-by.ts";
import { checkCaller } from "./check-caller.ts";
import { abortedOutcome } from "./play-outcome.ts";
import { requestDigest } from "./request-digest.ts";

/** Options of `fallback`. */
export interface FallbackOptions {
  /**
   * Whether the next caller is tried after a failure. Default: after one that is retryable, and after `auth`, `billing` and
   * `context-length`. An aborted call never continues with another caller.
   */
  readonly when?: (failure: LlmFailure) => boolean;
}

const isWorthAnother = ({ retryable, kind }: LlmFailure): boolean =>
  retryable || kind === "auth" || kind === "billing" || kind === "context-length";

const fallbackForms: OptionForms<FallbackOptions> = { when: optionForms.function };

/** How many interrupted requests are remembered. */
const maxRemembered = 1000;

/**
 * A caller that tries callers in their order until one answers. A request that names a model goes to the first caller with
 * this model; the others use their own, if they have one.
 *
 * Two answers are never mixed: once a caller has streamed a chunk, its failure ends the call, as retryable. The next call with
 * an equal request, which is how an agent tries again, begins with the caller after it. The usage of callers that failed is part of the outcome.
 * A chunk that a caller emits after its failure is dropped. Throws `LlmOptionError` without a caller, and for an unusable option.
 */
export function fallback(callers: readonly LlmCaller[], options: FallbackOptions = {}): LlmCaller {
  if (!Array.isArray(callers))
    throw new LlmOptionError("fallback needs a list of callers as its first argument.");
  for (const caller of callers) checkCaller("fallback", caller);
  checkOptions("fallback", options, fallbackForms);
  const [first] = callers;
  if (first === undefined) throw new LlmOptionError("fallback needs at least one caller, got an empty list.");
  const { when = isWorthAnother } = options;
  const interrupted = new InterruptedRequests();

  const call = async (request: LlmRequest, given: LlmCallOptions = {}): Promise<LlmOutcome> => {
    const { signal } = given;
    const tries = new Tries(callers, request, when);
    let index = await interrupted.takeIndex(request);
    for (let caller = callers[index]; caller !== undefined; caller = callers[index]) {
      if (signal?.aborted) return tries.withSpent(abortedOutcome());
      const stream = watchedStream(given);
      // The callers are tried one after the other.
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await caller.call(tries.requestFor(index), stream.options);
      stream.end();
      index += 1;
      if (tries.isFinal(outcome) || callers[index] === undefined) return tries.end(outcome, caller);
      if (stream.hasStarted()) {
        // oxlint-disable-next-line no-await-in-loop
        await interrupted.add(request, index);
        return tries.interrupted(outcome, caller);
      }
      tries.failed(outcome, caller);
    }
    return tries.withSpent(abortedOutcome());
  };

  const callSync = (request: LlmRequest): LlmOutcome => {
    const tries = new Tries(callers, request, when);
    for (const [index, caller] of callers.entries()) {
      const outcome = caller.callSync?.(tries.requestFor(index)) ?? abortedOutcome();
      if (tries.isFinal(outcome) || index === callers.length - 1) return tries.end(outcome, caller);
      tries.failed(outcome, caller);
    }
    return abortedOutcome();
  };

  return {
    name: `fallback(${callers.map(({ name }) => name).join(", ")})`,
    ...(first.model !== undefined && { model: first.model }),
    call,
    ...(callers.every(({ callSync: sync }) => sync !== undefined) && { callSync }),
  };
}

/** The requests whose stream broke, each with the caller at which its next attempt begins. */
class InterruptedRequests {
  readonly #indexes = new Map<string, number>();

  async add(request: LlmRequest, index: number): Promise<void> {
    this.#indexes.set(await requestDigest(request, anyCaller), index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > maxRemembered && oldest !== undefined) this.#indexes.delete(oldest);
  }

  /** The index for a request, which is used once: 0 for a request that was not interrupted. */
  async takeIndex(request: LlmRequest): Promise<number> {
    if (this.#indexes.size === 0) return 0;
    const digest = await requestDigest(request, anyCaller);
    const index = this.#indexes.get(digest) ?? 0;
    this.#indexes.delete(digest);
    return index;
  }
}

const anyCaller = { name: "fallback" };

/** Options whose listener reports whether a chunk has been emitted, until its end. */
function watchedStream({ onChunk, ...options }: LlmCallOptions): {
  readonly options: LlmCallOptions;
  readonly hasStarted: () => boolean;
  readonly end: () => void;
} {
  let started = false;
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  if (onChunk === undefined) return { options, hasStarted: () => false, end };
  const watched: LlmCallOptions["onChunk"] = (chunk) => {
    if (ended) return;
    started = true;
    onChunk(chunk);
  };
  return { options: { ...options, onChunk: watched }, hasStarted: () => started, end };
}

/** The attempts of one call. */
class Tries {
  readonly #callers: readonly LlmCaller[];
  readonly #request: LlmRequest;
  readonly #when: (failure: LlmFailure) => boolean;
  readonly #failures: { readonly caller: string; readonly failure: LlmFailure }[] = [];
  #spent: LlmUsage | undefined;

  constructor(callers: readonly LlmCaller[], request: LlmRequest, when: (failure: LlmFailure) => boolean) {
    this.#callers = callers;
    this.#request = request;
    this.#when = when;
  }

  /** The model of a request belongs to the first caller. */
  requestFor(index: number): LlmRequest {
    const hasOwnModel = index > 0 && this.#callers[index]?.model !== undefined;
    return hasOwnModel ? { ...this.#request, model: "" } : this.#request;
  }

  /** Whether no other caller is tried after this outcome. */
  isFinal(outcome: LlmOutcome): boolean {
    return outcome.ok || outcome.failure.kind === "aborted" || !this.#when(outcome.failure);
  }

  failed(outcome: LlmOutcome, { name }: LlmCaller): void {
    if (!outcome.ok) this.#failures.push({ caller: name, failure: outcome.failure });
    this.#add(outcome.usage);
  }

  end(outcome: LlmOutcome, caller: LlmCaller): LlmOutcome {
    const reasons = this.#failures.map(({ caller: name, failure }) => `${name} failed: ${failure.kind}`);
    const reason = reasons.length === 0 ? undefined : `fallback: ${reasons.join(", ")}`;
    const failures = this.#failures.map(({ failure }) => failure);
    const ended =
      outcome.ok || reason === undefined || outcome.failure.kind === "aborted"
        ? outcome
        : { ...outcome, failure: withHistory(outcome.failure, reasons, failures) };
    return this.withSpent(withAnswerer(ended, caller, reason));
  }

  /** A failure after the first chunk: the next attempt goes to another caller, at once. */
  interrupted(outcome: LlmOutcome, { name }: LlmCaller): LlmOutcome {
    if (outcome.ok) return outcome;
    const { retryAfterMs: _, ...failure } = outcome.failure;
    const text = `${failure.message} (from ${name}; the next attempt goes to another caller)`;
    const { message } = failureOf(failure.kind, text);
    return this.withSpent({ ...outcome, failure: { ...failure, message, retryable: true } });
  }

  withSpent(outcome: LlmOutcome): LlmOutcome {
    const spent = this.#spent;
    if (spent === undefined) return outcome;
    return { ...outcome, usage: outcome.usage === undefined ? spent : addUsage(spent, outcome.usage) };
  }

  #add(usage: LlmUsage | undefined): void {
    if (usage !== undefined) this.#spent = this.#spent === undefined ? usage : addUsage(this.#spent, usage);
  }
}

/** The last failure, with those before it in its message. It is retryable if any of them is, after the shortest wait of those. */
function withHistory(
  last: LlmFailure,
  reasons: readonly string[],
  before: readonly LlmFailure[],
): LlmFailure {
  const { message } = failureOf(last.kind, `${last.message} (before: ${reasons.join(", ")})`);
  const waits = [...before, last].flatMap(({ retryable, retryAfterMs = 0 }) =>
    retryable ? [retryAfterMs] : [],
  );
  if (waits.length === 0) return { ...last, message };
  const { retryAfterMs: _, ...failure } = last;
  const shortest = Math.min(...waits);
  return { ...failure, message, retryable: true, ...(shortest > 0 && { retryAfterMs: shortest }) };
}
