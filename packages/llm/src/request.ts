import type { Json, JsonObject } from "./json.ts";

/**
 * One part of an answer, in the order of generation. `raw` is the provider's own form of the part: opaque, stored unchanged,
 * and sent back only to the origin of its turn. `arguments` is the JSON text of a tool call's input.
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
  /** A file that the model made, such as an image. */
  | { readonly type: "file"; readonly file: LlmFile; readonly raw?: Json }
  | { readonly type: "opaque"; readonly raw: Json };

/** One answer of a model. `origin` identifies provider, API, host and model: only this origin gets the raw parts back. */
export interface LlmTurn {
  readonly origin: string;
  readonly parts: readonly LlmPart[];
  readonly raw?: Json;
}

/** A file: a URL, or base64 data. `mediaType` is an IANA media type such as `image/png`. */
export type LlmFile =
  | { readonly mediaType: string; readonly name?: string; readonly url: string }
  | { readonly mediaType: string; readonly name?: string; readonly data: string };

/** A part of a user message. */
export type LlmContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly file: LlmFile };

/** The result of one tool call. An empty `content` is sent as "(no output)". */
export interface LlmToolResult {
  readonly isError: boolean;
  readonly content: string;
  readonly files?: readonly LlmFile[];
}

/**
 * A message of a request. A `note` is text from the agent to the model, not from the user. An assistant turn contains the
 * results of its tool calls, one for each call, in the order of the calls.
 */
export type LlmMessage =
  | { readonly role: "user"; readonly content: readonly LlmContent[] }
  | { readonly role: "note"; readonly text: string }
  | { readonly role: "assistant"; readonly turn: LlmTurn; readonly results: readonly LlmToolResult[] };

/** A tool that the model may call. `schema` is the JSON Schema of its input, an object. Adapters convert it to what a provider takes. */
export interface LlmTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

/** Whether the model may, must not, or must call a tool, or which tool it must call. */
export type LlmToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** Sampling and limits. An adapter leaves out settings that its provider does not support, with a warning in the outcome. */
export interface LlmSettings {
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "max";
  /** Requests log-probabilities of the tokens, from which `confidence` of the outcome is computed. Default: false. */
  readonly confidence?: boolean;
  /** Fields that are added to the body of the request unchanged, by the caller's name: `{ openai: { service_tier: "flex" } }`. */
  readonly providerOptions?: { readonly [caller: string]: JsonObject };
  /**
   * Tools that the provider runs, beside `tools`, by the caller's name and in the provider's form: `{ openai: [{ type: "web_search" }] }`.
   * A request for a summary is sent without them.
   */
  readonly providerTools?: { readonly [caller: string]: readonly JsonObject[] };
}

/** The tools of a request that the provider runs, for the caller with this name. */
export const providerToolsOf = (
  { purpose, settings }: Pick<LlmRequest, "purpose" | "settings">,
  caller: string,
): readonly JsonObject[] => (purpose === "plan" ? (settings.providerTools?.[caller] ?? []) : []);

/** Everything that determines a model's answer. Equal requests are sent as equal bytes. */
export interface LlmRequest {
  /** The purpose of the answer: the next step of the loop, or a summary of the conversation. */
  readonly purpose: "plan" | "reflect";
  /** The empty string selects the model of the caller. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly LlmMessage[];
  readonly tools: readonly LlmTool[];
  readonly toolChoice: LlmToolChoice;
  readonly parallelToolCalls: boolean;
  /** The JSON Schema of the final answer. */
  readonly answerSchema?: JsonObject;
  readonly settings: LlmSettings;
}
