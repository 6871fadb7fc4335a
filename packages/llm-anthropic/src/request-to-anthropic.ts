import type {
  CacheControlEphemeral,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  Tool,
  ToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import {
  defined,
  requestToSendable,
  strictSchema,
  unknownSettings,
  withAnswerInstruction,
  type BodyContext,
  type JsonObject,
  type LlmRequest,
  type LlmSettings,
  type Sendable,
  type StrictRules,
  type WireRequest,
} from "@moora/llm";
import type { AnthropicCache } from "./anthropic-cache.ts";
import { withReach } from "./cache-breakpoints.ts";
import { messagesToBlocks } from "./message-to-blocks.ts";

/** The name under which settings name fields of this API. */
export const anthropicName = "anthropic";

export interface AnthropicContext extends BodyContext {
  /** The API wants a limit; this is the one where the request sets none. Default: 16,384. */
  readonly maxOutputTokens?: number | undefined;
  /** Default: `5m`. */
  readonly cache?: AnthropicCache | undefined;
}

type Warn = (warning: string) => void;
type Fields = Partial<MessageCreateParamsStreaming>;

/** A request in the words of the Messages API, always streamed. */
export function requestToAnthropic(
  request: LlmRequest,
  context: AnthropicContext,
): WireRequest<MessageCreateParamsStreaming> {
  const warnings: string[] = unknownSettings(request.settings);
  const warn: Warn = (text) => warnings.push(text);
  const given = requestToSendable(request, context);
  const format = given.answerSchema && strictSchema(given.answerSchema, strictRules);
  const sendable = format ? given : withAnswerInstruction(given, "the Messages API", warn);
  const { settings } = sendable;
  const cached = cacheOf(context.cache);
  const messages = messagesToBlocks(sendable.messages, warn);
  const stops = settings.stop?.filter((stop) => stop.trim() !== "") ?? [];
  warnUnknown(settings, warn);
  const body: MessageCreateParamsStreaming = {
    model: sendable.model,
    max_tokens: settings.maxOutputTokens ?? context.maxOutputTokens ?? 16_384,
    ...systemAndTools(sendable, cached),
    messages: cached ? withReach(messages, cached) : messages,
    ...(cached && { cache_control: cached }),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...thinkingOf(sendable, warn),
    ...outputOf(sendable, format),
    ...settings.providerOptions?.[anthropicName],
    stream: true,
  };
  return { body, sendable, warnings };
}

const cacheOf = (cache: AnthropicCache = "5m"): CacheControlEphemeral | undefined =>
  cache === "off" ? undefined : { type: "ephemeral", ...(cache === "1h" && { ttl: cache }) };

function warnUnknown(settings: LlmSettings, warn: Warn): void {
  for (const name of ["temperature", "topP", "seed", "confidence"] as const) {
    const value = settings[name];
    if (value !== undefined && value !== false)
      warn(`${name} was left out: the Messages API does not know it`);
  }
}

/** Tools stand before the system prompt in the cached prefix, so one breakpoint after both is enough. */
function systemAndTools(sendable: Sendable, cached: CacheControlEphemeral | undefined): Fields {
  const mark = cached && { cache_control: cached };
  const system: TextBlockParam[] =
    sendable.system === undefined ? [] : [{ type: "text", text: sendable.system, ...mark }];
  const tools = sendable.tools.map(({ name, description, schema }, index): Tool => ({
    name,
    ...(description !== "" && { description }),
    input_schema: { ...schema, type: "object" },
    ...(system.length === 0 && index === sendable.tools.length - 1 && mark),
  }));
  return {
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools, tool_choice: choiceOf(sendable) }),
  };
}

function choiceOf({ toolChoice, parallelToolCalls }: Sendable): ToolChoice {
  if (toolChoice === "none") return { type: "none" };
  const single = parallelToolCalls ? {} : { disable_parallel_tool_use: true };
  if (toolChoice === "auto") return { type: "auto", ...single };
  if (toolChoice === "required") return { type: "any", ...single };
  return { type: "tool", name: toolChoice.name, ...single };
}

const isForced = ({ toolChoice, tools }: Sendable): boolean =>
  tools.length > 0 && toolChoice !== "auto" && toolChoice !== "none";

function thinkingOf(sendable: Sendable, warn: Warn): Fields {
  const { reasoningEffort } = sendable.settings;
  if (reasoningEffort === undefined) return {};
  if (reasoningEffort === "none") return { thinking: { type: "disabled" } };
  if (isForced(sendable)) {
    warn("thinking is off: the Messages API does not allow it when a tool is forced");
    return { thinking: { type: "disabled" } };
  }
  return { thinking: { type: "adaptive", display: "summarized" } };
}

function outputOf({ settings }: Sendable, format: JsonObject | undefined): Fields {
  const { reasoningEffort: effort } = settings;
  const config: OutputConfig = defined({
    effort: effort === undefined || effort === "none" ? undefined : effort === "minimal" ? "low" : effort,
    format: format && ({ type: "json_schema", schema: { ...format } } as const),
  });
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

/** What is enforced of an answer. The rest becomes part of descriptions: the agent checks each answer anyway. */
const strictRules: StrictRules = {
  keywords: [],
  described: [
    "pattern",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
  ],
  formats: ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
  optionalKeys: true,
  recursion: false,
};
