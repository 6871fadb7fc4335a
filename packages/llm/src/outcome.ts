import type { LlmTurn } from "./request.ts";

/**
 * The tokens of one call. `inputTokens` counts all input, including tokens that were read from or written to the cache;
 * `outputTokens` includes reasoning.
 */
export interface LlmUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** A usage of zero tokens. */
export const noUsage: LlmUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** The names of the counts of a usage. Those of the input come first. */
export const usageNames = [
  "inputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "outputTokens",
  "reasoningTokens",
] as const;

/** The sum of two usages. */
export function addUsage(a: LlmUsage, b: LlmUsage): LlmUsage {
  const sum: { -readonly [Name in keyof LlmUsage]: number } = { ...a };
  for (const name of usageNames) sum[name] += b[name];
  return sum;
}

/**
 * Why a call failed. `server` is an error of the provider, `timeout` a limit of silence that was exceeded, `connection` a
 * request that got no response, `interrupted` a stream that ended before its last event, `aborted` the signal of the
 * caller, `empty` an answer without content, `malformed` an answer that does not follow the protocol.
 */
export type LlmFailureKind =
  | "auth"
  | "billing"
  | "rate-limit"
  | "overloaded"
  | "server"
  | "timeout"
  | "connection"
  | "interrupted"
  | "aborted"
  | "invalid-request"
  | "context-length"
  | "refusal"
  | "content-filter"
  | "empty"
  | "malformed"
  | "unknown";

/** A failed call. */
export interface LlmFailure {
  readonly kind: LlmFailureKind;
  /** For users and logs. Contains no API key, and has at most 2 KB. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long to wait before the next attempt, in milliseconds, if the provider reports it. */
  readonly retryAfterMs?: number;
  /** The HTTP status, if there was a response. */
  readonly status?: number;
  /** The provider's own code for the error. */
  readonly raw?: string;
  /**
   * The origin that refused the request for what its messages contain, so that an equal request is refused again. Missing for a
   * refusal that is about the model, the key or a setting, and for any other failure.
   */
  readonly refusedBy?: string;
  /** The message of such a refusal speaks of files. */
  readonly blamesFiles?: true;
}

/** Why the model stopped: a common reason, and the provider's own code. */
export interface LlmFinish {
  readonly unified: "stop" | "tool-calls" | "length" | "other";
  readonly raw: string;
}

/** Which of several callers answered, where a combinator such as `fallback` or `cached` chose. */
export interface LlmAnswerer {
  /** The name of the caller. */
  readonly caller: string;
  /** The model that answered. */
  readonly model: string;
  /** Why it answered: one text for each choice, the outermost first. Empty if the first choice answered. */
  readonly reasons: readonly string[];
}

/** The result of a call: a turn or a failure. `partial` is the text that was streamed before the failure. */
export type LlmOutcome =
  | {
      readonly ok: true;
      readonly turn: LlmTurn;
      /** The model that answered, by the name that the provider reports. */
      readonly model: string;
      readonly usage: LlmUsage;
      /**
       * The provider did not report the usage of this answer, or one count of it, so that `usage` does not contain it: the agent counts
       * an estimate.
       */
      readonly usageMissing?: true | "inputTokens" | "outputTokens";
      /** From 0 to 1; missing if the provider does not report log-probabilities. */
      readonly confidence?: number;
      readonly warnings?: readonly string[];
      readonly finish: LlmFinish;
      /** Missing if no combinator chose the caller. */
      readonly answeredBy?: LlmAnswerer;
    }
  | {
      readonly ok: false;
      readonly failure: LlmFailure;
      readonly partial: string;
      readonly usage?: LlmUsage;
    };
