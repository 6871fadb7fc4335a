import type { ChunkFeed } from "./chunk-feed.ts";
import type { FailureContext } from "./fault-to-failure.ts";
import type { Json } from "./json.ts";
import type { LlmFailure, LlmFailureKind, LlmOutcome, LlmUsage } from "./outcome.ts";
import type { LlmRequest } from "./request.ts";
import type { NormalizedRequest } from "./normalized-request.ts";
import type { Wire } from "./stream-guard.ts";

/** What a request is mapped for. */
export interface BodyContext {
  /** Where the request goes: raw parts go back to this origin only. */
  readonly origin: string;
  /** Leave raw parts out altogether. */
  readonly neutral?: boolean;
  readonly cacheKey?: string | undefined;
}

/** A request in a provider's words. */
export interface WireRequest<Body> {
  readonly body: Body;
  readonly normalized: NormalizedRequest;
  /** What the provider does not know and was left out. */
  readonly warnings: readonly string[];
}

/** What a client needs for one request. */
export interface WireCall extends Wire {
  /** Missing where the provider wants none. */
  readonly apiKey: string | undefined;
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Puts the events of one answer together. */
export interface AnswerReader<Body, Event> {
  /** True from the event on with which the answer is whole. */
  add(event: Event): boolean;
  /** The text so far. */
  partial(): string;
  usage(): LlmUsage | undefined;
  /** What the answer came to, once it is whole. */
  outcome(): LlmOutcome;
  /** The request that goes on with an answer which paused. */
  continuation?(body: Body): Body | undefined;
}

export interface ReaderContext {
  readonly origin: string;
  readonly feed: ChunkFeed;
  readonly normalized: NormalizedRequest;
  readonly failure: FailureContext;
}

/** How one provider is asked, and how its answers are read. Everything but `open` is pure. */
export interface Protocol<Body, Event> {
  readonly provider: string;
  readonly api: string;
  readonly baseURL: string;
  /** The variable that holds the key; missing where the provider wants none. */
  readonly keyName?: string | undefined;
  /** Headers that carry the key of idempotency are refused by some servers, when a browser asks. */
  readonly sendsIdempotencyKey: boolean;
  readonly requestToBody: (request: LlmRequest, context: BodyContext) => WireRequest<Body>;
  readonly open: (body: Body, call: WireCall) => PromiseLike<AsyncIterable<Event>>;
  readonly reader: (context: ReaderContext) => AnswerReader<Body, Event>;
  readonly errorCodes: Readonly<Record<string, LlmFailureKind>>;
  readonly errorToBody: (error: unknown) => Json | undefined;
  /** Whether a failure says that raw parts were not accepted, so that the request may pass without them. */
  readonly rejectsRaw: (failure: LlmFailure, carriesRaw: boolean) => boolean;
}
