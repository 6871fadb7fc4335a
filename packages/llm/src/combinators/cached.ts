import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { checkOptions, optionForms, type OptionForm, type OptionForms } from "../check-options.ts";
import { withWarnings } from "../failure.ts";
import { isJsonObject } from "../json.ts";
import { noUsage, type LlmOutcome } from "../outcome.ts";
import type { LlmRequest } from "../request.ts";
import { withAnswerer } from "./answered-by.ts";
import { readCache, writeCache } from "./cache-access.ts";
import { checkCaller } from "./check-caller.ts";
import { memoryLlmCache, type LlmAnswer, type LlmCache } from "./llm-cache.ts";
import { abortedOutcome, playOutcome } from "./play-outcome.ts";
import { systemClock, type LlmClock } from "./rate-limiter.ts";
import { requestDigest } from "./request-digest.ts";
import { untilAborted } from "./until-aborted.ts";
import { wrapCaller } from "./wrap-caller.ts";

/** Options of `cached`. */
export interface CachedOptions {
  /** Where answers are stored. Default: a `memoryLlmCache` of its own. */
  readonly cache?: LlmCache;
  /**
   * Milliseconds that the cache may take to read an answer, and to store one. After that, the call continues without the cache, with a
   * warning in the outcome. Default: 2,000.
   */
  readonly cacheTimeoutMs?: number;
  /** The clock of `cacheTimeoutMs`. Default: the clock of the system. */
  readonly clock?: LlmClock;
}

/**
 * A caller that answers equal requests once, and then from a cache, whatever the temperature. A stored answer is streamed like any
 * other and has a usage of zero tokens. Failures are not stored. An equal request that arrives while the first one is answered
 * waits for that answer; if there is none, it is sent itself. An error of the cache, and a stored value that is not an answer, is a
 * warning in the outcome. Throws `LlmOptionError` for an unusable option.
 */
export function cached(caller: LlmCaller, options: CachedOptions = {}): LlmCaller {
  checkCaller("cached", caller);
  checkOptions("cached", options, cachedForms);
  const { cache = memoryLlmCache(), cacheTimeoutMs = 2_000, clock = systemClock } = options;
  /** The calls that are being answered, by the digests of their requests. */
  const running = new Map<string, Promise<Answered>>();

  const answer = async (digest: string, request: LlmRequest, given: LlmCallOptions): Promise<Answered> => {
    const { signal } = given;
    const access = { cache, clock, timeoutMs: cacheTimeoutMs, signal };
    const { answer: found, warnings } = await readCache(access, digest);
    if (signal?.aborted) return { outcome: abortedOutcome(), isStored: false };
    if (found !== undefined) return { outcome: found, isStored: true };
    const outcome = withAnswerer(await caller.call(request, given), caller);
    const problems = outcome.ok ? await writeCache(access, digest, outcome) : [];
    return { outcome: withWarnings(outcome, ...warnings, ...problems), isStored: false };
  };

  const call = async (request: LlmRequest, given: LlmCallOptions = {}): Promise<LlmOutcome> => {
    const { signal } = given;
    if (signal?.aborted) return abortedOutcome();
    const digest = await requestDigest(request, caller);
    for (let other = running.get(digest); other !== undefined; other = running.get(digest)) {
      // Only one of the calls that wait here is sent next.
      // oxlint-disable-next-line no-await-in-loop
      const answered = await untilAborted(other, signal);
      if (answered === undefined) return abortedOutcome();
      if (answered.outcome.ok) return playOutcome(fromCache(answered.outcome, caller), given);
    }
    const own = answer(digest, request, given);
    running.set(digest, own);
    const { outcome, isStored } = await own.finally(() => running.delete(digest));
    if (isStored && outcome.ok) return playOutcome(fromCache(outcome, caller), given);
    // Calls that wait for this answer read the same object, so the caller gets a copy.
    return structuredClone(outcome);
  };
  return wrapCaller(caller, call);
}

/** An outcome, and whether it was in the cache. */
interface Answered {
  readonly outcome: LlmOutcome;
  readonly isStored: boolean;
}

function fromCache(answer: LlmAnswer, caller: LlmCaller): LlmOutcome {
  const { usageMissing: _, ...copy } = structuredClone(answer);
  return withAnswerer({ ...copy, usage: noUsage }, caller, "cache");
}

const cacheForm: OptionForm = {
  expectation: "an object with the functions get and set",
  fits: (value) =>
    isJsonObject(value) && typeof value["get"] === "function" && typeof value["set"] === "function",
};

const cachedForms: OptionForms<CachedOptions> = {
  cache: cacheForm,
  cacheTimeoutMs: optionForms.positiveInteger,
  clock: optionForms.clock,
};
