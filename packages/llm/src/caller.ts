import type { LlmOutcome } from "./outcome.ts";
import type { LlmRequest } from "./request.ts";

/**
 * A piece of the answer that a model is streaming. `index` is the number of its part, from 0 in the order in which the parts
 * start: the first chunk with an index starts the part, and `part-end` ends it. Pieces of parts that are open at the same time
 * may alternate. A caller may leave the index out, but not of arguments: then all text is one part, and all reasoning another.
 *
 * `tool-call` begins a call, `id` is that of its part in the turn if it is known by then, and `tool-call-delta` is a piece of the
 * JSON text of its arguments. Arguments have a meaning only in the turn: a draft may be cut, and the call never made. Files are
 * in the turn only.
 */
export type LlmChunk =
  | { readonly type: "text"; readonly index?: number; readonly text: string }
  | { readonly type: "reasoning"; readonly index?: number; readonly text: string }
  | { readonly type: "tool-call"; readonly index?: number; readonly id?: string; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly index: number; readonly text: string }
  | { readonly type: "part-end"; readonly index: number };

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
