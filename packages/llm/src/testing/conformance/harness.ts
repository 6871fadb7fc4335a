import type { LlmCaller } from "../../caller.ts";
import type { LlmUsage } from "../../outcome.ts";

/** An optional capability of a caller and its test server. Cases that need a missing one are left out. */
export type LlmFeature =
  /** The harness has an HTTP server, which can fail in every way of HTTP and of streams. */
  | "http"
  /** Answers contain reasoning. */
  | "reasoning"
  /** Reasoning is sent back to its origin, which rejects modified reasoning. */
  | "signed-reasoning"
  /** Usage contains the tokens that were written to a cache. */
  | "cache-writes"
  /** Events before the last one may report usage. */
  | "early-usage"
  | "log-probabilities"
  /** A refusal is distinguishable from an answer. */
  | "refusals"
  | "content-filter"
  /** The chunks of several calls may be interleaved. */
  | "interleaved-calls"
  /** Arguments of calls are text, which may be malformed. Other providers send objects. */
  | "text-arguments"
  /** A call may have no id, or the id of another call. */
  | "loose-ids"
  | "images"
  /** Answers contain files that the model made. */
  | "files"
  | "cache-key";

/** A tool call that the server sends. */
export interface ScriptedCall {
  /** Default: an id that the dialect generates. The empty string leaves it out. */
  readonly id?: string;
  /** A name, or the index of a tool in the request, whose name in the request is used. */
  readonly name: string | { readonly tool: number };
  /** The chunks of the arguments. */
  readonly arguments: readonly string[];
}

/** An answer in a neutral form, which a dialect writes as events of its protocol. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  /** The chunks of the text. */
  readonly text?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** Files that the model made, as base64 data. They follow the text. */
  readonly files?: readonly { readonly mediaType: string; readonly data: string }[];
  /** Whether the chunks of the calls are interleaved. Default: false. */
  readonly interleaved?: boolean;
  /** Default: by the content, `stop` or `tool-calls`. */
  readonly finish?: "length" | "refusal" | "content-filter";
  readonly usage?: LlmUsage;
  /** Usage that the first event reports. Default: as the provider does. */
  readonly earlyUsage?: LlmUsage;
  /** The log-probabilities of the chunks of the text. */
  readonly logprobs?: readonly number[];
}

/** An error that a dialect writes in the form of its protocol. */
export type ScriptedError =
  | "auth"
  | "billing"
  | "rate-limit"
  | "overloaded"
  | "server"
  | "invalid-request"
  | "context-length"
  | "rejected-reasoning";

/** How a server responds to a request. `afterEvents` counts the events from the start of the answer. */
export type ServerBehavior =
  /** Streams an answer. */
  | { readonly type: "answer"; readonly answer: ScriptedAnswer }
  /** Closes the connection in the middle of an answer. */
  | {
      readonly type: "cut";
      readonly answer: ScriptedAnswer;
      readonly afterEvents: number;
      readonly by: "fin" | "rst";
    }
  /** Stops sending in the middle of an answer, and leaves the connection open. */
  | { readonly type: "stall"; readonly answer: ScriptedAnswer; readonly afterEvents: number }
  /** Reads the request and sends no response. */
  | { readonly type: "silent" }
  /** Sends an event whose data is not JSON. */
  | { readonly type: "malformed-event"; readonly answer: ScriptedAnswer; readonly afterEvents: number }
  /** Sends an error event. */
  | {
      readonly type: "error-event";
      readonly answer: ScriptedAnswer;
      readonly afterEvents: number;
      readonly error: ScriptedError;
    }
  /** Sends a response with a status and an error. */
  | {
      readonly type: "error-response";
      readonly status: number;
      readonly error: ScriptedError;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Sends exactly this response. `{key}` in the body is replaced by the API key of the request. */
  | {
      readonly type: "response";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    };

/** The address of the caller's base URL. */
export type HarnessTarget =
  | "server"
  /** A port that no process listens on. */
  | "refused"
  /** A host name that does not resolve. */
  | "unknown-host"
  /** The server, which has no TLS, over https. */
  | "no-tls";

/** How to open a harness. */
export interface HarnessSetup {
  /** Default: `server`. */
  readonly target?: HarnessTarget;
  /** The API key of the caller; the empty string for none. Default: any valid key. */
  readonly key?: string;
}

/** A caller and the test server that it calls. */
export interface LlmHarness {
  readonly caller: LlmCaller;
  /** Sets the server's behavior for the next requests, one after the other; the last one stays in effect. */
  readonly serve: (...behaviors: readonly ServerBehavior[]) => void;
  /** The bodies of the requests so far. */
  readonly bodies: readonly string[];
  /** The headers of the requests so far, with names in lower case. */
  readonly headers: readonly Readonly<Record<string, string>>[];
  /** The tokens that the server has signed or encrypted, and expects back unchanged. */
  readonly issued: readonly string[];
  /** Resolves when the server has received this many requests in total. */
  readonly received: (count: number) => Promise<void>;
  /** How many events a complete answer has. */
  readonly eventsOf: (answer: ScriptedAnswer) => number;
  /** Closes the server. */
  readonly close: () => Promise<void>;
}

/** The description of an adapter for the conformance suite. */
export interface ConformanceSubject {
  /** The capabilities of the adapter and its test server. */
  readonly features: readonly LlmFeature[];
  /** The environment variable from which the caller reads its API key. */
  readonly keyName?: string;
  /** Opens a new harness for one case. */
  readonly open: (setup: HarnessSetup) => Promise<LlmHarness>;
}
