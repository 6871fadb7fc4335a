import type { ChunkFeed } from "./chunk-feed.ts";
import type { FailureContext } from "./fault-to-failure.ts";
import type { Json } from "./json.ts";
import type { LlmFailure, LlmOutcome, LlmUsage } from "./outcome.ts";
import type { ErrorRows } from "./provider-errors.ts";
import type { LlmRequest } from "./request.ts";
import type { NormalizedRequest } from "./normalized-request.ts";
import type { EventReader, Wire } from "./stream-guard.ts";

/** Where and how a request is sent. */
export interface BodyContext {
  /** The origin of the answer. Only turns from this origin are sent with their raw parts. */
  readonly origin: string;
  /** Leaves out all raw parts, and asks for none. Default: false. */
  readonly neutral?: boolean;
  /** `cacheKey` of the call's options. */
  readonly cacheKey?: string | undefined;
}

/** A request in the format of a provider. */
export interface WireRequest<Body> {
  readonly body: Body;
  readonly normalized: NormalizedRequest;
  /** Warnings for content that was left out because the provider does not support it. */
  readonly warnings: readonly string[];
}

/** What a client needs to send one request. */
export interface WireCall extends Wire {
  /** Undefined if the provider needs no key. */
  readonly apiKey: string | undefined;
  /** Undefined if the protocol has none. */
  readonly baseURL: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Assembles one answer from its events. */
export interface AnswerReader<Body, Event> extends EventReader<Event> {
  /** The text so far, for the outcome of a call that fails. */
  partial(): string;
  /** The usage so far; undefined as long as no event reports it. */
  usage(): LlmUsage | undefined;
  /** The outcome of the complete answer. */
  outcome(): LlmOutcome;
  /** The body of the request that continues a paused answer; undefined for an answer that is finished. */
  continuation?(body: Body): Body | undefined;
}

/** The context of a reader: its request, and where it emits chunks. */
export interface ReaderContext {
  /** The origin of the turn. */
  readonly origin: string;
  /** Where the reader emits chunks. */
  readonly feed: ChunkFeed;
  /** The request, for the names of its tools. */
  readonly normalized: NormalizedRequest;
  /** For `errorToFailure`. */
  readonly failure: FailureContext;
}

/**
 * An API of a provider: how to send a request, and how to read its answer. Every function except `open` is pure. `Body` is
 * the body of a request, `Event` an event of the stream.
 */
export interface Protocol<Body, Event> {
  /** The provider's name, in messages and in origins. */
  readonly provider: string;
  /** The API's name, in origins: `responses`. */
  readonly api: string;
  /** An absolute URL with `http://` or `https://`; undefined if only the client knows the address. */
  readonly baseURL?: string | undefined;
  /** The environment variable with the API key; undefined if the provider needs no key. */
  readonly keyName?: string | undefined;
  /** Whether to send the `idempotency-key` header. Some servers reject it in requests from a browser. */
  readonly sendsIdempotencyKey: boolean;
  /** Converts a request to the body that is sent. */
  readonly requestToBody: (request: LlmRequest, context: BodyContext) => WireRequest<Body>;
  /** Sends a body with `fetch` and `signal` of the call, and resolves to the events of the answer. */
  readonly open: (body: Body, call: WireCall) => PromiseLike<AsyncIterable<Event>>;
  /** Creates the reader of one answer. */
  readonly reader: (context: ReaderContext) => AnswerReader<Body, Event>;
  /** The kinds of this provider's error codes, in addition to the common ones. */
  readonly errorCodes?: ErrorRows | undefined;
  /** The body of an error event that the SDK threw as an error; undefined for any other error. */
  readonly errorToBody: (error: unknown) => Json | undefined;
  /**
   * Whether a failure means that the model has no encrypted reasoning, which the API asks for. Then the request is sent once more, with
   * `neutral` in its context. Default: never.
   */
  readonly rejectsEncryption?: (failure: LlmFailure) => boolean;
}
