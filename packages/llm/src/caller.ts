import type { LlmOutcome } from "./outcome.ts";
import type { LlmRequest } from "./request.ts";

/** A piece of the answer that a model is streaming. A tool call reports its name only: partial arguments have no meaning. */
export type LlmChunk =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly name: string };

/** Options of one call, which do not change the answer. */
export interface LlmCallOptions {
  /** Aborts the call, which then ends as `aborted`. */
  readonly signal?: AbortSignal;
  /** Receives the answer while the model streams it. An exception that it throws is ignored. */
  readonly onChunk?: (chunk: LlmChunk) => void;
  /** How long to wait for the first event of the stream, in milliseconds. Default: the caller's own limit. */
  readonly firstChunkTimeoutMs?: number;
  /** How long to wait between two events of the stream, in milliseconds. Default: the caller's own limit. */
  readonly idleTimeoutMs?: number;
  /** Identifies the request: equal for every attempt to send it, also after a crash. */
  readonly idempotencyKey?: string;
  /** Groups requests with a common prefix, for providers that route them to the same cache. */
  readonly cacheKey?: string;
}

/** A language model. `call` never rejects: every failure is an outcome. */
export interface LlmCaller {
  /** The provider, as `providerOptions` and messages name it. */
  readonly name: string;
  /** The model for requests whose `model` is the empty string, if the caller is configured with one. */
  readonly model?: string;
  /** Sends a request and resolves to its outcome. */
  call(request: LlmRequest, options?: LlmCallOptions): Promise<LlmOutcome>;
  /** The same as `call` for models that answer synchronously, such as scripted ones. */
  callSync?(request: LlmRequest): LlmOutcome;
}
