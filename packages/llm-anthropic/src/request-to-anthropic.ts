import type {
  CacheControlEphemeral,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  Tool,
  ToolChoice,
  ToolUnion,
  ContentBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type { JsonObject, LlmRequest, LlmSettings } from "@moora/llm";
import {
  anthropicAnswer,
  anthropicTool,
  commonFiles,
  convertSchema,
  defined,
  normalizeRequest,
  providerToolsOf,
  unknownSettingWarnings,
  unsupportedWarning,
  withAnswerInstruction,
  withProviderFields,
  type BodyContext,
  type FileRules,
  type NormalizedRequest,
  type WireRequest,
} from "@moora/llm/adapter";
import type { AnthropicCache } from "./anthropic-cache.ts";
import { halfOf, messagesToBlocks, type BlockTurn } from "./message-to-blocks.ts";

/** The name of the caller, also in `providerOptions`. */
export const anthropicName = "anthropic";

/** 5 MB for an image, 100 files, and 32 MB for a request, with a margin for its texts. */
const files: FileRules = {
  types: commonFiles,
  inFailedResults: false,
  maxFiles: 100,
  maxImageLength: 5 * 2 ** 20,
  maxTotalLength: 30 * 2 ** 20,
};

/** Where and how a request is sent. */
export interface AnthropicContext extends BodyContext {
  /** The output limit of requests without `maxOutputTokens`. Default: 16,384. */
  readonly maxOutputTokens?: number | undefined;
  /** How long the provider caches prefixes. Default: `5m`. */
  readonly cache?: AnthropicCache | undefined;
  /** The host of the server. Default: that of Anthropic. */
  readonly host?: string | undefined;
}

/**
 * Whether the server at a host signs its thinking, and refuses thinking without a signature. Servers of others that are documented to sign
 * none, or not always, want it back as they sent it: those of DeepSeek, Kimi, MiniMax and Z.ai.
 */
const signsThinking = (host: string): boolean => /(^|\.)anthropic\.com(:\d+)?$/.test(host);

type Warn = (warning: string) => void;
type Fields = Partial<MessageCreateParamsStreaming>;

/** Converts a request to the body of the Messages API, always streamed. */
export function requestToAnthropic(
  request: LlmRequest,
  context: AnthropicContext,
): WireRequest<MessageCreateParamsStreaming> {
  const warnings: string[] = unknownSettingWarnings(request.settings);
  const warn: Warn = (text) => warnings.push(text);
  const given = normalizeRequest(request, { ...context, files, halfOf, warn });
  const answer = given.answerSchema && convertSchema(given.answerSchema, anthropicAnswer);
  const format = answer?.isExact === true ? answer.schema : undefined;
  const normalized = format ? given : withAnswerInstruction(given, "the Messages API", warn);
  const { settings } = normalized;
  const cacheControl = cacheOf(context.cache);
  const messages = messagesToBlocks(normalized.messages, signsThinking(context.host ?? "anthropic.com"));
  const stops = settings.stop?.filter((stop) => stop.trim() !== "") ?? [];
  warnUnsupported(settings, warn);
  const made: MessageCreateParamsStreaming = {
    model: normalized.model,
    max_tokens: settings.maxOutputTokens ?? context.maxOutputTokens ?? 16_384,
    ...systemAndTools(normalized, providerToolsOf(request, anthropicName), cacheControl),
    messages: cacheControl ? withBreakpoint(messages, cacheControl) : messages,
    ...(cacheControl && { cache_control: cacheControl }),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...thinkingOf(normalized, warn),
    ...outputOf(normalized, format),
    stream: true,
  };
  const body = withProviderFields(made, settings, anthropicName, warn);
  return { body, normalized, warnings };
}

const cacheOf = (cache: AnthropicCache = "5m"): CacheControlEphemeral | undefined =>
  cache === "off" ? undefined : { type: "ephemeral", ...(cache === "1h" && { ttl: cache }) };

function warnUnsupported(settings: LlmSettings, warn: Warn): void {
  for (const name of ["temperature", "topP", "seed", "confidence"] as const) {
    const value = settings[name];
    if (value !== undefined && value !== false) warn(unsupportedWarning(name, "the Messages API"));
  }
}

/** Tools precede the system text in the cached prefix, so one breakpoint after both is sufficient. */
function systemAndTools(
  normalized: NormalizedRequest,
  provided: readonly JsonObject[],
  cacheControl: CacheControlEphemeral | undefined,
): Fields {
  const mark = cacheControl && { cache_control: cacheControl };
  const system: TextBlockParam[] =
    normalized.system === undefined ? [] : [{ type: "text", text: normalized.system, ...mark }];
  const own = normalized.tools.map(({ name, description, schema }, index): Tool => ({
    name,
    ...(description !== "" && { description }),
    input_schema: { ...convertSchema(schema, anthropicTool).schema, type: "object" },
    ...(system.length === 0 && index === normalized.tools.length - 1 && mark),
  }));
  // The SDK does not know all tools that the provider runs. They come first: the last tool has the breakpoint.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const tools = [...(provided as unknown as ToolUnion[]), ...own];
  return {
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools, tool_choice: choiceOf(normalized) }),
  };
}

function choiceOf({ toolChoice, parallelToolCalls }: NormalizedRequest): ToolChoice {
  if (toolChoice === "none") return { type: "none" };
  const single = parallelToolCalls ? {} : { disable_parallel_tool_use: true };
  if (toolChoice === "auto") return { type: "auto", ...single };
  if (toolChoice === "required") return { type: "any", ...single };
  return { type: "tool", name: toolChoice.name, ...single };
}

const isForced = ({ toolChoice, tools }: NormalizedRequest): boolean =>
  tools.length > 0 && toolChoice !== "auto" && toolChoice !== "none";

function thinkingOf(normalized: NormalizedRequest, warn: Warn): Fields {
  const { reasoningEffort } = normalized.settings;
  if (reasoningEffort === undefined) return {};
  if (reasoningEffort === "none") return { thinking: { type: "disabled" } };
  if (isForced(normalized)) {
    warn("thinking is off: the Messages API does not allow it when a tool is forced");
    return { thinking: { type: "disabled" } };
  }
  return { thinking: { type: "adaptive", display: "summarized" } };
}

function outputOf({ settings }: NormalizedRequest, format: JsonObject | undefined): Fields {
  const { reasoningEffort: effort } = settings;
  const config: OutputConfig = defined({
    effort: effort === undefined || effort === "none" ? undefined : effort === "minimal" ? "low" : effort,
    format: format && ({ type: "json_schema", schema: { ...format } } as const),
  });
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

/** How many blocks before a breakpoint the provider searches for a cached prefix, with a margin. */
const lookbackBlocks = 16;

/**
 * Adds a cache breakpoint at the end of the previous request, if the breakpoint at the end is too far away to find its prefix:
 * after a turn with many calls. Other messages get no breakpoint, so that their bytes do not change.
 */
function withBreakpoint(messages: readonly BlockTurn[], cache_control: CacheControlEphemeral): BlockTurn[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === "assistant");
  const added = messages.slice(lastTurn).reduce((blocks, { content }) => blocks + content.length, 0);
  const before = messages[lastTurn - 1];
  if (before === undefined || added <= lookbackBlocks) return [...messages];
  const content = before.content.map((block, index, blocks) =>
    index === blocks.length - 1 ? withCacheControl(block, cache_control) : block,
  );
  return messages.with(lastTurn - 1, { ...before, content });
}

const withCacheControl = (
  block: ContentBlockParam,
  cache_control: CacheControlEphemeral,
): ContentBlockParam =>
  block.type === "thinking" || block.type === "redacted_thinking" ? block : { ...block, cache_control };
