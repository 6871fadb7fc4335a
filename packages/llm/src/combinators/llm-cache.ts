import { checkOptions, optionForms } from "../check-options.ts";
import type { LlmOutcome } from "../outcome.ts";

/** An answer: an outcome that is not a failure. */
export type LlmAnswer = Extract<LlmOutcome, { readonly ok: true }>;

/** Where `cached` stores answers, by the digest of their requests. Answers are plain JSON. */
export interface LlmCache {
  /** The stored answer; undefined or null if there is none. */
  get(digest: string): PromiseLike<LlmAnswer | null | undefined> | LlmAnswer | null | undefined;
  /** Stores an answer. It replaces one with the same digest. */
  set(digest: string, answer: LlmAnswer): PromiseLike<unknown> | void;
}

/**
 * A cache in memory. When it is full, the answer that was not used for the longest time is dropped. Throws `LlmOptionError` if
 * `maxEntries` is not a positive integer. Default: 1000.
 */
export function memoryLlmCache(options: { readonly maxEntries?: number } = {}): LlmCache {
  checkOptions<typeof options>("memoryLlmCache", options, { maxEntries: optionForms.positiveInteger });
  const { maxEntries = 1000 } = options;
  // A map keeps the order of insertion, so the first key is that of the answer that was not used for the longest time.
  const answers = new Map<string, LlmAnswer>();
  return {
    get: (digest) => {
      const answer = answers.get(digest);
      if (answer === undefined) return undefined;
      answers.delete(digest);
      answers.set(digest, answer);
      return answer;
    },
    set: (digest, answer) => {
      answers.delete(digest);
      answers.set(digest, answer);
      const [oldest] = answers.keys();
      if (answers.size > maxEntries && oldest !== undefined) answers.delete(oldest);
    },
  };
}
