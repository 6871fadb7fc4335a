import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { checkOptions, optionForms, type OptionForm, type OptionForms } from "../check-options.ts";
import { requestTokens } from "../estimate-tokens.ts";
import type { LlmFailure, LlmOutcome } from "../outcome.ts";
import { isTokenCount } from "../reported-usage.ts";
import type { LlmRequest } from "../request.ts";
import { checkCaller } from "./check-caller.ts";
import { abortedOutcome } from "./play-outcome.ts";
import { RateLimiter, systemClock, type LlmClock } from "./rate-limiter.ts";
import { untilAborted } from "./until-aborted.ts";
import { wrapCaller } from "./wrap-caller.ts";

/** Options of `rateLimited`. */
export interface RateLimits {
  /** How many calls may start per minute. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** How many tokens, of input and output, may be used per minute. Default: no limit. */
  readonly tokensPerMinute?: number;
  /**
   * The tokens that a request is expected to use, before its usage is known. Default: a quarter of the characters of the request,
   * 1,000 for each of its files, and its `maxOutputTokens`.
   */
  readonly estimateTokens?: (request: LlmRequest) => number;
  /** Default: the clock of the system. */
  readonly clock?: LlmClock;
}

const positiveNumber: OptionForm = {
  expectation: "a positive number",
  fits: (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
};

const limitForms: OptionForms<RateLimits> = {
  requestsPerMinute: positiveNumber,
  tokensPerMinute: positiveNumber,
  estimateTokens: optionForms.function,
  clock: optionForms.clock,
};

/**
 * A caller that starts calls within limits per minute, in the order in which they arrive. Up to the amount of one minute may be
 * used at once; then it refills evenly. A call that is aborted while it waits takes nothing. Tokens are reserved by an
 * estimate, and corrected by the usage of the outcome. While the provider asks to wait (`retryAfterMs` of a `rate-limit`
 * failure), no call starts; where that is longer than a minute, calls fail with this failure and the rest of the time. Throws `LlmOptionError` for a limit that is not a positive number, and for an unknown option.
 */
export function rateLimited(caller: LlmCaller, limits: RateLimits): LlmCaller {
  checkCaller("rateLimited", caller);
  checkOptions("rateLimited", limits, limitForms);
  const { clock = systemClock, estimateTokens = defaultEstimate } = limits;
  const limiter = new RateLimiter(clock, limits);
  let refused: { readonly failure: LlmFailure; readonly until: number } | undefined;
  const refusal = (): LlmOutcome | undefined => {
    const restMs = refused === undefined ? 0 : refused.until - clock.now();
    return refused === undefined || restMs <= 0
      ? undefined
      : { ok: false, failure: { ...refused.failure, retryAfterMs: restMs }, partial: "" };
  };

  const call = async (request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmOutcome> => {
    const { signal } = options;
    if (signal?.aborted) return abortedOutcome();
    const refusedBefore = refusal();
    if (refusedBefore !== undefined) return refusedBefore;
    const estimate = estimateTokens(request);
    const { promise, resolve } = Promise.withResolvers<true>();
    let started = false;
    const leave = limiter.enqueue(estimate, () => {
      started = true;
      resolve(true);
    });
    await untilAborted(promise, signal);
    if (!started) {
      leave();
      return abortedOutcome();
    }
    const outcome = refusal() ?? (await caller.call(request, options));
    settle(limiter, outcome, estimate);
    if (!outcome.ok && waitMsOf(outcome) > longestPauseMs)
      refused = { failure: outcome.failure, until: clock.now() + waitMsOf(outcome) };
    return outcome;
  };
  return wrapCaller(caller, call);
}

/** Replaces the estimate by the usage. An answer whose usage was not reported keeps it; a failure without usage has used nothing. */
function settle(limiter: RateLimiter, outcome: LlmOutcome, estimate: number): void {
  const { inputTokens, outputTokens } = outcome.usage ?? { inputTokens: 0, outputTokens: 0 };
  const isKnown = !(outcome.ok && outcome.usageMissing !== undefined);
  const used = inputTokens + outputTokens;
  if (isKnown && isTokenCount(used)) limiter.takeTokens(used - estimate);
  if (waitMsOf(outcome) <= longestPauseMs) limiter.pause(waitMsOf(outcome));
}

/** In milliseconds. While a provider asks for a longer wait, calls fail. */
const longestPauseMs = 60_000;

/** How long the provider asks to wait. */
const waitMsOf = (outcome: LlmOutcome): number =>
  outcome.ok || outcome.failure.kind !== "rate-limit" ? 0 : (outcome.failure.retryAfterMs ?? 0);

const defaultEstimate = (request: LlmRequest): number =>
  requestTokens(request) + (request.settings.maxOutputTokens ?? 0);
