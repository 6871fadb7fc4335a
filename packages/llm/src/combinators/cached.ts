import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { withWarnings } from "../failure.ts";
import { noUsage, type LlmOutcome } from "../outcome.ts";
import type { LlmRequest } from "../request.ts";
import { withAnswerer } from "./answered-by.ts";
import { memoryLlmCache, type LlmAnswer, type LlmCache } from "./llm-cache.ts";
import { abortedOutcome, playOutcome } from "./play-outcome.ts";
import { requestDigest } from "./request-digest.ts";
import { untilAborted } from "./until-aborted.ts";

/** Options of `cached`. */
export interface CachedOptions {
  /** Where answers are stored. Default: a `memoryLlmCache` of its own. */
  readonly cache?: LlmCache;
}

/**
 * A caller that answers equal requests once, and then from a cache, whatever the temperature. A stored answer is streamed like any
 * other and has a usage of zero tokens. Failures are not stored. An equal request that arrives while the first one is answered
 * waits for that answer; if there is none, it is sent itself. An error of the cache is a warning in the outcome.
 */
export function cached(caller: LlmCaller, { cache = memoryLlmCache() }: CachedOptions = {}): LlmCaller {
  /** The calls that are being answered, by the digests of their requests. */
  const running = new Map<string, Promise<Answered>>();

  const answer = async (digest: string, request: LlmRequest, options: LlmCallOptions): Promise<Answered> => {
    const { answer: found, warnings } = await stored(cache, digest);
    if (found !== undefined) return { outcome: found, isStored: true };
    if (options.signal?.aborted) return { outcome: abortedOutcome(), isStored: false };
    const outcome = withAnswerer(await caller.call(request, options), caller);
    const problems = outcome.ok ? await store(cache, digest, outcome) : [];
    return { outcome: withWarnings(outcome, ...warnings, ...problems), isStored: false };
  };

  const call = async (request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmOutcome> => {
    const { signal } = options;
    if (signal?.aborted) return abortedOutcome();
    const digest = await requestDigest(request, caller);
    for (let other = running.get(digest); other !== undefined; other = running.get(digest)) {
      // Only one of the calls that wait here is sent next.
      // oxlint-disable-next-line no-await-in-loop
      const answered = await untilAborted(other, signal);
      if (answered === undefined) return abortedOutcome();
      if (answered.outcome.ok) return playOutcome(fromCache(answered.outcome, caller), options);
    }
    const own = answer(digest, request, options);
    running.set(digest, own);
    const { outcome, isStored } = await own.finally(() => running.delete(digest));
    return isStored && outcome.ok ? playOutcome(fromCache(outcome, caller), options) : outcome;
  };
  return { name: caller.name, ...(caller.model !== undefined && { model: caller.model }), call };
}

/** An outcome, and whether it was in the cache. */
interface Answered {
  readonly outcome: LlmOutcome;
  readonly isStored: boolean;
}

async function stored(
  cache: LlmCache,
  digest: string,
): Promise<{ readonly answer?: LlmAnswer | undefined; readonly warnings: readonly string[] }> {
  try {
    return { answer: await cache.get(digest), warnings: [] };
  } catch (error) {
    return { warnings: [`the cache could not be read: ${String(error)}`] };
  }
}

/** Stores an answer. Resolves to the warnings of the outcome. */
async function store(cache: LlmCache, digest: string, answer: LlmAnswer): Promise<readonly string[]> {
  try {
    await cache.set(digest, answer);
    return [];
  } catch (error) {
    return [`the answer was not stored in the cache: ${String(error)}`];
  }
}

const fromCache = (answer: LlmAnswer, caller: LlmCaller): LlmOutcome =>
  withAnswerer({ ...answer, usage: noUsage }, caller, "cache");
