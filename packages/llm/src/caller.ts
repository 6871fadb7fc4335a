import type { LlmOutcome } from "./outcome.ts";
import type { LlmRequest } from "./request.ts";

/** What a model is making just now. A tool call shows its name only: its arguments count when they are whole. */
export type LlmChunk =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly name: string };

export interface LlmCallOptions {
  readonly signal?: AbortSignal;
  readonly onChunk?: (chunk: LlmChunk) => void;
  /** Silence allowed before the first event of a stream; default: the caller's own. */
  readonly firstChunkTimeoutMs?: number;
  /** Silence allowed between two events of a stream; default: the caller's own. */
  readonly idleTimeoutMs?: number;
  /** Equal for equal requests, also after a crash. */
  readonly idempotencyKey?: string;
  /** Groups requests that share a prefix, for providers that route by it. */
  readonly cacheKey?: string;
}

/** A language model. `call` never rejects: each failure is an outcome. */
export interface LlmCaller {
  readonly name: string;
  /** The model of requests that name none, where the caller was configured with one: known before the first call. */
  readonly model?: string;
  call(request: LlmRequest, options?: LlmCallOptions): Promise<LlmOutcome>;
  /** For models that answer synchronously: scripted ones, planners. */
  callSync?(request: LlmRequest): LlmOutcome;
}
