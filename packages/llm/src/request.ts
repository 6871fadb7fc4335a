import type { Json, JsonObject } from "./json.ts";

/**
 * One piece of what a model made, in the order it was made. `raw` is the provider's own form of the part: opaque, stored
 * as it came, and given back only to the origin of its turn. `arguments` is the JSON text of a tool call's input.
 */
export type LlmPart =
  | { readonly type: "text"; readonly text: string; readonly raw?: Json }
  | { readonly type: "reasoning"; readonly text: string; readonly raw: Json }
  | {
      readonly type: "tool-call";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly raw?: Json;
    }
  | { readonly type: "opaque"; readonly raw: Json };

/** One answer of a model. `origin` names provider, API, endpoint and model: whoever may read the raw parts again. */
export interface LlmTurn {
  readonly origin: string;
  readonly parts: readonly LlmPart[];
  readonly raw?: Json;
}

/** A file by reference: a URL, or base64 data. `mediaType` is an IANA media type such as `image/png`. */
export type LlmFile =
  | { readonly mediaType: string; readonly name?: string; readonly url: string }
  | { readonly mediaType: string; readonly name?: string; readonly data: string };

export type LlmContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly file: LlmFile };

/** The answer to one tool call. An empty result reads "(no output)" by the time it stands in a request. */
export interface LlmToolResult {
  readonly isError: boolean;
  readonly content: string;
  readonly files?: readonly LlmFile[];
}

/**
 * A message of a request. `note` is a word from the harness to the model, not from the user. An assistant turn carries
 * its results with it, one for each of its tool calls, in the order of the calls: an orphan cannot be written.
 */
export type LlmMessage =
  | { readonly role: "user"; readonly content: readonly LlmContent[] }
  | { readonly role: "note"; readonly text: string }
  | { readonly role: "assistant"; readonly turn: LlmTurn; readonly results: readonly LlmToolResult[] };

/** A tool as the model sees it. `schema` is the JSON Schema of its input, an object schema. */
export interface LlmTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

export type LlmToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** Sampling and limits; what a model does not know is left out by its adapter, with a warning in the outcome. */
export interface LlmSettings {
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "max";
  /** Ask for token log-probabilities, from which the outcome's confidence is computed. */
  readonly confidence?: boolean;
  /** Fields put into the body of the request as they are, by name of the caller: `{ openai: { service_tier: "flex" } }`. */
  readonly providerOptions?: { readonly [caller: string]: JsonObject };
}

/** Everything that decides a model's answer. The same request twice is the same bytes on the wire. */
export interface LlmRequest {
  /** What the answer is for: the next step of the loop, or a summary of its history. */
  readonly purpose: "plan" | "reflect";
  readonly model: string;
  readonly system: string;
  readonly messages: readonly LlmMessage[];
  readonly tools: readonly LlmTool[];
  readonly toolChoice: LlmToolChoice;
  readonly parallelToolCalls: boolean;
  /** JSON Schema that a final answer has to fit. */
  readonly answerSchema?: JsonObject;
  readonly settings: LlmSettings;
}
