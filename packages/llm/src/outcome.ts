import type { LlmTurn } from "./request.ts";

/** Tokens. `inputTokens` counts all input, cached and written to the cache included; `outputTokens` includes reasoning. */
export interface LlmUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export const noUsage: LlmUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

export const addUsage = (a: LlmUsage, b: LlmUsage): LlmUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
});

/**
 * Why a call failed. `server` is a fault on the provider's side, `timeout` silence for too long, `connection` a request
 * that never got an answer, `interrupted` a stream that ended before its last event, `aborted` our own signal, `empty`
 * an answer without content, `malformed` one that cannot be read.
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

export interface LlmFailure {
  readonly kind: LlmFailureKind;
  /** For people: no key, no raw body beyond 2 KB. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** The vendor's own word for it, such as an error code. */
  readonly raw?: string;
}

/** Why the model stopped, in our words and in the vendor's. */
export interface LlmFinish {
  readonly unified: "stop" | "tool-calls" | "length" | "other";
  readonly raw: string;
}

/** What a call came to: a turn or a failure, never an exception. `partial` is the text that had been streamed. */
export type LlmOutcome =
  | {
      readonly ok: true;
      readonly turn: LlmTurn;
      /** The model that answered, as the provider names it. */
      readonly model: string;
      readonly usage: LlmUsage;
      /** Between 0 and 1; missing where the provider gives none. */
      readonly confidence?: number;
      readonly warnings?: readonly string[];
      readonly finish: LlmFinish;
    }
  | {
      readonly ok: false;
      readonly failure: LlmFailure;
      readonly partial: string;
      readonly usage?: LlmUsage;
    };
