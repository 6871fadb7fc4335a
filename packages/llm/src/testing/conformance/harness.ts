import type { LlmCaller } from "../../caller.ts";
import type { LlmUsage } from "../../outcome.ts";

/** What a provider can be made to do, beyond answering. A harness names what its caller and its server can. */
export type LlmFeature =
  /** There is a server, which can fail in the ways of HTTP and of streams. */
  | "http"
  /** Answers carry reasoning. */
  | "reasoning"
  /** Reasoning has to go back to where it came from, and is refused when it was tampered with. */
  | "signed-reasoning"
  /** Usage tells how many tokens were written to a cache. */
  | "cache-writes"
  /** Events before the last one may carry usage. */
  | "early-usage"
  | "log-probabilities"
  /** Refusals are told apart from answers. */
  | "refusals"
  | "content-filter"
  /** Pieces of several calls may come in turns. */
  | "interleaved-calls"
  /** A call may come without an id, or with one that another has. */
  | "loose-ids"
  | "images"
  | "cache-key";

export interface ScriptedCall {
  /** Default: one of the server's own. The empty string leaves it out. */
  readonly id?: string;
  /** A name, or the place of a tool in the request: it is called by the name that the request gave it. */
  readonly name: string | { readonly tool: number };
  /** The pieces in which the arguments come. */
  readonly arguments: readonly string[];
}

/** An answer in no provider's words; the server writes it in its own. */
export interface ScriptedAnswer {
  readonly reasoning?: string;
  /** The pieces in which the text comes. */
  readonly text?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
  readonly interleaved?: boolean;
  /** Default: what its content says. */
  readonly finish?: "length" | "refusal" | "content-filter";
  readonly usage?: LlmUsage;
  /** Usage that the first event carries, from a server that counts from the beginning. Default: as the provider does. */
  readonly earlyUsage?: LlmUsage;
  readonly logprobs?: readonly number[];
}

/** Something a provider says about an error, in its own words. */
export type ScriptedError =
  | "auth"
  | "billing"
  | "rate-limit"
  | "overloaded"
  | "server"
  | "invalid-request"
  | "context-length"
  | "rejected-reasoning";

/** What a server does with a request. Events are counted from the start of the answer. */
export type ServerBehavior =
  | { readonly type: "answer"; readonly answer: ScriptedAnswer }
  | {
      readonly type: "cut";
      readonly answer: ScriptedAnswer;
      readonly afterEvents: number;
      readonly by: "fin" | "rst";
    }
  | { readonly type: "stall"; readonly answer: ScriptedAnswer; readonly afterEvents: number }
  /** Takes the request and says nothing, not even a status. */
  | { readonly type: "silent" }
  /** Sends an event whose data is no JSON. */
  | { readonly type: "malformed-event"; readonly answer: ScriptedAnswer; readonly afterEvents: number }
  /** Sends an error event. */
  | {
      readonly type: "error-event";
      readonly answer: ScriptedAnswer;
      readonly afterEvents: number;
      readonly error: ScriptedError;
    }
  /** Answers with a status and an error in the provider's own form. */
  | {
      readonly type: "error-response";
      readonly status: number;
      readonly error: ScriptedError;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Answers with exactly this. `{key}` in the body stands for the key that came. */
  | {
      readonly type: "response";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    };

/** Where the caller of a harness is pointed to. */
export type HarnessTarget =
  | "server"
  /** A port where nobody listens. */
  | "refused"
  /** A name that does not resolve. */
  | "unknown-host"
  /** A server that does not speak TLS, asked over https. */
  | "no-tls";

export interface HarnessSetup {
  readonly target?: HarnessTarget;
  /** The key that the caller is given; the empty string for none. */
  readonly key?: string;
}

/** One caller and the server behind it. */
export interface LlmHarness {
  readonly caller: LlmCaller;
  /** What the server does with the coming requests, one after the other; the last one stays. */
  readonly serve: (...behaviors: readonly ServerBehavior[]) => void;
  /** The bodies that came, as they came. */
  readonly bodies: readonly string[];
  /** The headers that came, names in lower case. */
  readonly headers: readonly Readonly<Record<string, string>>[];
  /** What the server signed or encrypted and wants back as it was. */
  readonly issued: readonly string[];
  /** Resolves when so many requests have come. */
  readonly received: (count: number) => Promise<void>;
  /** After how many events an answer is whole. */
  readonly eventsOf: (answer: ScriptedAnswer) => number;
  readonly close: () => Promise<void>;
}

export interface ConformanceSubject {
  readonly features: readonly LlmFeature[];
  /** The variable of the environment that the caller reads its key from. */
  readonly keyName?: string;
  readonly open: (setup: HarnessSetup) => Promise<LlmHarness>;
}

/** One thing that every caller does. `run` throws when it does not. */
export interface ConformanceCase {
  readonly name: string;
  readonly needs: readonly LlmFeature[];
  readonly setup?: HarnessSetup;
  readonly run: (harness: LlmHarness, subject: ConformanceSubject) => Promise<void>;
}
