import type { Json, JsonObject, LlmPart, LlmRequest } from "@moora/llm";
import type { BodyContext, WireRequest } from "@moora/llm/adapter";
import type { RefusedPart } from "../llm/refusing-fetch.ts";
import { requestToAiSdk } from "@moora/llm-ai-sdk/wire";
import { requestToAnthropic } from "@moora/llm-anthropic/wire";
import { chatProfiles, type ChatProfile } from "@moora/llm-openai";
import { requestToChat, requestToOpenAi } from "@moora/llm-openai/wire";

/** An API of a provider: what it is sent, what its models answer, and what it may refuse. */
export interface WireDialect {
  readonly name: string;
  readonly requestToBody: (request: LlmRequest, context: BodyContext) => WireRequest<object>;
  /** Parts that only the API can read, each list in front of a text or of a call. */
  readonly ownParts: readonly (readonly LlmPart[])[];
  /** The provider's own form of a call; undefined if it has none. */
  readonly rawCall?: JsonObject;
  readonly refused: Readonly<Record<string, RefusedPart>>;
}

const typed =
  (...types: readonly string[]) =>
  ({ type }: JsonObject): boolean =>
    types.some((one) => one === type);

const has =
  (...names: readonly string[]) =>
  (part: JsonObject): boolean =>
    names.some((name) => part[name] !== undefined && part[name] !== "" && part[name] !== null);

/** A text that the provider refuses, wherever it is. */
const poison = (part: JsonObject): boolean =>
  Object.values(part).some((value) => typeof value === "string" && value.includes("poison"));

const openAiError = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: "invalid_request_error", param, code },
});
const anthropicError = (message: string): JsonObject => ({
  type: "error",
  error: { type: "invalid_request_error", message },
});
const googleError = (message: string): JsonObject => ({
  error: { code: 400, message, status: "INVALID_ARGUMENT" },
});

const reasoning = (raw: Json, text = "Hm."): LlmPart => ({ type: "reasoning", text, raw });
const said = (raw?: Json): LlmPart => ({ type: "text", text: "So.", ...(raw === undefined ? {} : { raw }) });
const made = (raw?: Json): LlmPart => ({
  type: "file",
  file: { mediaType: "image/png", data: "iVBORw0KGgo=" },
  ...(raw === undefined ? {} : { raw }),
});

const responses: WireDialect = {
  name: "openai/responses",
  requestToBody: requestToOpenAi,
  ownParts: [
    [reasoning({ id: "rs_1", encrypted_content: "gAAA", summary: [3] })],
    [{ type: "opaque", raw: { type: "web_search_call", id: "ws_1", status: "completed" } }],
    [said({ id: "msg_1", annotations: [{ type: "url_citation", url: "https://a.test" }] })],
    [made({ type: "image_generation_call", id: "ig_1", status: "completed" }), said()],
  ],
  rawCall: { id: "fc_1" },
  refused: {
    reasoning: {
      is: typed("reasoning"),
      error: openAiError(
        "The encrypted content gAAA could not be verified.",
        null,
        "invalid_encrypted_content",
      ),
    },
    search: { is: typed("web_search_call"), error: openAiError("Item 'ws_1' was not found.", "input") },
    images: {
      is: typed("input_image", "image_generation_call"),
      error: openAiError("You uploaded an unsupported image.", null, "invalid_value"),
    },
    documents: {
      is: typed("input_file"),
      error: openAiError("The PDF is encrypted.", "input[1].content[1]"),
    },
    files: {
      is: typed("input_file", "input_image", "image_generation_call"),
      error: openAiError("Error while downloading https://a.test.", "url", "invalid_image_url"),
    },
    ids: {
      is: ({ type, id }) => type !== "reasoning" && id !== undefined,
      error: openAiError("Item not found."),
    },
    annotations: { is: typed("url_citation"), error: openAiError("Invalid value.", "input[2].content[0]") },
    texts: { is: poison, error: openAiError("We could not parse the content of the request.") },
  },
};

const chat = (profile: ChatProfile, reasoningRaw: Json): WireDialect => ({
  name: `${profile.name}/chat`,
  requestToBody: (request, context) => requestToChat(request, context, profile),
  ownParts: [[reasoning(reasoningRaw)], [made(), said()]],
  rawCall: { extra_content: { google: { thought_signature: "sig" } } },
  refused: {
    images: { is: typed("image_url"), error: openAiError("This model does not support image input.") },
    documents: { is: typed("file"), error: openAiError("Invalid file.", "messages[1].content[0]") },
    signatures: {
      is: has("extra_content"),
      error: openAiError("Extra inputs are not permitted: extra_content"),
    },
    texts: { is: poison, error: openAiError("The messages could not be read.", "messages") },
    ...(profile.reasoningField !== undefined && {
      reasoning: { is: has("reasoning_content"), error: openAiError("reasoning_content is not permitted.") },
      "missing reasoning": {
        is: ({ role, ...turn }) => role === "assistant" && typeof turn["reasoning_content"] !== "string",
        error: openAiError("The `reasoning_content` in the thinking mode must be passed back to the API."),
      },
    }),
  },
});

const messages: WireDialect = {
  name: "anthropic/messages",
  requestToBody: requestToAnthropic,
  ownParts: [
    [reasoning({ signature: "sig" })],
    [reasoning({ data: "secret" }, "")],
    [
      { type: "opaque", raw: { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} } },
      { type: "opaque", raw: { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] } },
    ],
    [{ type: "opaque", raw: { type: "server_tool_use", id: "srv_2", name: "web_search", input: {} } }],
    [said({ citations: [{ type: "char_location", cited_text: "a" }] })],
  ],
  rawCall: { caller: { type: "code_execution_20260120", tool_id: "srv_9" } },
  refused: {
    thinking: {
      is: typed("thinking"),
      error: anthropicError("messages.1.content.0: Invalid `signature` in `thinking` block"),
    },
    "redacted thinking": {
      is: typed("redacted_thinking"),
      error: anthropicError("messages.1.content.0: Invalid `data` in `redacted_thinking` block"),
    },
    images: { is: typed("image"), error: anthropicError("Could not process image") },
    documents: {
      is: typed("document"),
      error: anthropicError("A maximum of 100 PDF pages may be provided."),
    },
    "too large": {
      is: typed("document", "image"),
      error: {
        type: "error",
        error: { type: "request_too_large", message: "Request exceeds the maximum size" },
      },
    },
    "tools of the API": {
      is: typed("server_tool_use", "web_search_tool_result"),
      error: anthropicError("`web_search` tool use with id `srv_1` was found without a result"),
    },
    "half of a pair": {
      is: ({ type, id }) => type === "server_tool_use" && id === "srv_2",
      error: anthropicError("`web_search` tool use with id `srv_2` was found without a result"),
    },
    citations: {
      is: typed("char_location"),
      error: anthropicError("messages.1.content.0.citations: Invalid"),
    },
    callers: { is: has("caller"), error: anthropicError("messages.3.content.1.caller: no such tool use") },
    texts: { is: poison, error: anthropicError("messages: text content blocks are invalid") },
  },
};

/** A server of another provider, which signs no thinking. */
const compatible: WireDialect = {
  ...messages,
  name: "anthropic/messages of others",
  requestToBody: (request, context) => requestToAnthropic(request, { ...context, host: "api.test" }),
  ownParts: [[reasoning({ signature: "" })], [reasoning({})]],
  refused: {
    ...messages.refused,
    thinking: {
      is: ({ type, signature }) => type === "thinking" && signature === "",
      error: anthropicError("messages.1.content.0.signature: String should have at least 1 character"),
    },
  },
};

const aiSdk = (provider: string, name: string): WireDialect => ({
  name: `ai-sdk/${provider}`,
  requestToBody: (request, context) => requestToAiSdk(request, { ...context, provider }),
  ownParts: [
    [reasoning({ [name]: { thoughtSignature: "sig" } })],
    [said({ [name]: { thoughtSignature: "sig" } })],
    [{ type: "opaque", raw: { type: "custom", kind: `${name}.note` } }],
    [made({ [name]: { thoughtSignature: "sig" } }), said()],
  ],
  rawCall: { [name]: { thoughtSignature: "sig" } },
  refused: {
    reasoning: { is: typed("reasoning"), error: googleError("Unsupported part.") },
    signatures: { is: has("thoughtSignature"), error: googleError("Thought signature is not valid.") },
    files: { is: typed("file"), error: googleError("Unable to process input image. Please retry.") },
    "own parts": {
      is: typed("custom"),
      error: googleError("* GenerateContentRequest.contents[1].parts: Invalid."),
    },
    texts: { is: poison, error: googleError("Request contains an invalid argument.") },
  },
});

/** APIs of providers, each with what it may refuse. */
export const wireDialects: readonly WireDialect[] = [
  responses,
  chat(chatProfiles.openai, null),
  chat(chatProfiles.deepseek, "reasoning_content"),
  chat(chatProfiles.moonshot, "reasoning_content"),
  chat(chatProfiles.mistral, null),
  chat(chatProfiles.local, null),
  messages,
  compatible,
  aiSdk("google.generative-ai", "google"),
  aiSdk("acme.chat", "acme"),
];
