import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
} from "@ai-sdk/provider";
import type { JsonObject, LlmRequest, LlmSettings } from "@moora/llm";
import {
  aiSdkAnswer,
  aiSdkTool,
  convertSchema,
  defined,
  normalizeRequest,
  providerFields,
  providerToolsOf,
  unknownSettingWarnings,
  unsupportedWarning,
  wireIds,
  withAnswerInstruction,
  type BodyContext,
  type FileRules,
  type IdFormat,
  type NormalizedRequest,
  type WireRequest,
} from "@moora/llm/adapter";
import { halfOf, messagesToPrompt, readsUrl } from "./message-to-prompt.ts";
import { traitsOf, type ProviderTraits } from "./provider-traits.ts";

/** Where and how a request is sent. */
export interface AiSdkContext extends BodyContext {
  /** The `provider` of the model: `google.generative-ai`. */
  readonly provider: string;
  /** The URLs that the model reads itself, by media type. Default: none. */
  readonly supportedUrls?: Readonly<Record<string, readonly RegExp[]>>;
  /** Options of providers for every request. Those of a request replace them. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject } | undefined;
  /** The format of tool call ids. Default: the format of a known provider. */
  readonly callIdFormat?: IdFormat | undefined;
}

/** The options of a call, without those that `open` adds: signal and headers. */
export type AiSdkBody = Omit<LanguageModelV4CallOptions, "abortSignal" | "headers">;

const api = "this model of the AI SDK";

/** Converts a request to the options of a call of a model. */
export function requestToAiSdk(request: LlmRequest, context: AiSdkContext): WireRequest<AiSdkBody> {
  const warnings: string[] = unknownSettingWarnings(request.settings);
  const warn = (warning: string): void => void warnings.push(warning);
  const traits = traitsOf(context.provider);
  const idFormat = context.callIdFormat ?? traits.idFormat;
  const { nameFormat } = traits;
  const { supportedUrls = {} } = context;
  const files: FileRules = {
    ...traits.fileLimits,
    types: traits.files,
    takesUrl: ({ url, mediaType }, isInResult) =>
      (!isInResult || traits.urlsInResults || !traits.filesInResults) &&
      readsUrl(url, mediaType, supportedUrls),
  };
  const given = normalizeRequest(request, { ...context, idFormat, nameFormat, files, halfOf, warn });
  const schema = answerSchemaOf(given, traits);
  const normalized = schema ? given : withAnswerInstruction(given, api, warn);
  const { settings } = normalized;
  const provided = providerToolsOf(request, traits.optionsName);
  const hasTools = normalized.tools.length + provided.length > 0 && normalized.toolChoice !== "none";
  const callsAsText = traits.callsNeedTools === true && !hasTools;
  if (settings.confidence === true) warn(unsupportedWarning("confidence", api));
  const body: AiSdkBody = {
    prompt: [...systemOf(normalized), ...messagesToPrompt(normalized.messages, { traits, callsAsText })],
    ...settingsOf(settings),
    ...toolsOf(normalized, provided),
    // JSON Schema is JSON, which the type of the AI SDK describes by keyword.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    ...(schema && { responseFormat: { type: "json", schema: schema as object } }),
    ...providerOptionsOf(normalized, traits, context, warn),
    // The end of an answer is visible in raw chunks first.
    includeRawChunks: true,
  };
  return { body, normalized, warnings };
}

const systemOf = ({ system }: NormalizedRequest): LanguageModelV4Message[] =>
  system === undefined ? [] : [{ role: "system", content: system }];

function settingsOf(settings: LlmSettings): Partial<AiSdkBody> {
  const { maxOutputTokens, temperature, topP, seed, stop = [], reasoningEffort: reasoning } = settings;
  const stopSequences = stop.filter((word) => word !== "");
  return {
    ...defined({ maxOutputTokens, temperature, topP, seed, reasoning }),
    ...(stopSequences.length > 0 && { stopSequences }),
  };
}

function toolsOf(
  { tools, toolChoice }: NormalizedRequest,
  provided: readonly JsonObject[],
): Partial<AiSdkBody> {
  if (tools.length + provided.length === 0) return {};
  const choice: LanguageModelV4ToolChoice =
    typeof toolChoice === "string" ? { type: toolChoice } : { type: "tool", toolName: toolChoice.name };
  const own = tools.map(({ name, description, schema }): LanguageModelV4FunctionTool => ({
    type: "function",
    name,
    ...(description !== "" && { description }),
    inputSchema: { ...convertSchema(schema, aiSdkTool).schema, type: "object" },
  }));
  const others = provided.map((tool) => ({ type: "provider", args: {}, ...tool }));
  return {
    // What a tool of a provider needs is in the documentation of its package.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    tools: [...own, ...(others as unknown as LanguageModelV4ProviderTool[])],
    toolChoice: choice,
  };
}

/** The schema of the answer, in a form that every provider can enforce; undefined if there is none. */
function answerSchemaOf(
  { answerSchema, tools }: NormalizedRequest,
  { schemaWithTools }: ProviderTraits,
): JsonObject | undefined {
  if (answerSchema === undefined || (tools.length > 0 && !schemaWithTools)) return undefined;
  const { schema, isExact } = convertSchema(answerSchema, aiSdkAnswer);
  return isExact ? schema : undefined;
}

/** Options of the provider: its own, then those of the caller, then those of the request. */
function providerOptionsOf(
  { settings, tools, parallelToolCalls }: NormalizedRequest,
  traits: ProviderTraits,
  { providerOptions, cacheKey }: AiSdkContext,
  warn: (warning: string) => void,
): Partial<AiSdkBody> {
  const { optionsName, options, noParallelCalls, cacheKeyOption } = traits;
  const isSingle = tools.length > 0 && !parallelToolCalls;
  if (isSingle && noParallelCalls === undefined) warn(unsupportedWarning("parallelToolCalls: false", api));
  const own: JsonObject = {
    ...options,
    ...(isSingle && noParallelCalls),
    ...(cacheKey !== undefined && cacheKeyOption !== undefined && { [cacheKeyOption]: wireIds()(cacheKey) }),
  };
  const merged: Record<string, JsonObject> = Object.keys(own).length > 0 ? { [optionsName]: own } : {};
  for (const layer of [providerOptions ?? {}, settings.providerOptions ?? {}]) {
    for (const [name, fields] of Object.entries(layer))
      merged[name] = { ...merged[name], ...providerFields(fields, warn) };
  }

  return Object.keys(merged).length > 0 ? { providerOptions: merged } : {};
}
