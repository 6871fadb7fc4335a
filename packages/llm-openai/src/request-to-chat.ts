import type { JsonObject, LlmRequest, LlmTool } from "@moora/llm";
import {
  commonFiles,
  commonImages,
  defined,
  normalizeRequest,
  providerToolsOf,
  unknownSettingWarnings,
  unsupportedWarning,
  wireIds,
  withAnswerInstruction,
  withProviderFields,
  type BodyContext,
  type FileRules,
  type NormalizedRequest,
  type WireRequest,
} from "@moora/llm/adapter";
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";
import { alternateRoles } from "./alternate-roles.ts";
import { chatProfiles, type ChatField, type ChatProfile } from "./chat-profile.ts";
import { messageToChat } from "./message-to-chat.ts";
import { schemaToFormat, toolSchema } from "./schema-to-format.ts";

type Warn = (warning: string) => void;
type ChatFields = Partial<ChatCompletionCreateParamsStreaming>;

/** Converts a request to the body of Chat Completions, by the profile of a server. */
export function requestToChat(
  request: LlmRequest,
  context: BodyContext,
  profile: ChatProfile = chatProfiles.openai,
): WireRequest<ChatCompletionCreateParamsStreaming> {
  const warnings: string[] = unknownSettingWarnings(request.settings);
  const warn: Warn = (text) => warnings.push(text);
  const { callIdFormat: idFormat, nameFormat, fileLimits, acceptsPdf } = profile;
  const files: FileRules = {
    ...fileLimits,
    types: acceptsPdf ? commonFiles : commonImages,
    takesUrl: ({ mediaType }) => commonImages.test(mediaType),
  };
  const given = normalizeRequest(request, { ...context, idFormat, nameFormat, files, warn });
  const format = formatOf(given, profile);
  const normalized = format ? given : withAnswerInstruction(given, profile.name, warn);
  const { settings } = normalized;
  const made: ChatCompletionCreateParamsStreaming = {
    model: normalized.model,
    messages: messagesToChat(normalized, profile),
    ...toolsToChat(normalized, profile, providerToolsOf(request, profile.name)),
    ...(format && { response_format: { type: "json_schema", json_schema: format } }),
    ...defined({
      [profile.tokenField]: settings.maxOutputTokens,
      temperature: settings.temperature,
      top_p: settings.topP,
    }),
    ...profileFields(
      {
        seed: settings.seed,
        stop: settings.stop,
        reasoning_effort: settings.reasoningEffort,
        logprobs: settings.confidence === true ? true : undefined,
        prompt_cache_key: context.cacheKey === undefined ? undefined : wireIds()(context.cacheKey),
        parallel_tool_calls: normalized.tools.length > 0 ? normalized.parallelToolCalls : undefined,
        stream_options: { include_usage: true },
      },
      profile,
      warn,
    ),
    stream: true,
  };
  const body = withProviderFields(made, settings, profile.name, warn);
  return { body, normalized, warnings };
}

function messagesToChat(normalized: NormalizedRequest, profile: ChatProfile): ChatCompletionMessageParam[] {
  const messages = normalized.messages.flatMap((message) => messageToChat(message, profile));
  const system: ChatCompletionMessageParam[] =
    normalized.system === undefined ? [] : [{ role: profile.systemRole, content: normalized.system }];
  return [...system, ...alternateRoles(messages, profile)].map((message) => withReasoning(message, profile));
}

/** A turn with the field for reasoning, which is empty where the turn has none, for a server that wants it in each turn. */
const withReasoning = (
  message: ChatCompletionMessageParam,
  { reasoningField, requiresReasoning = false }: ChatProfile,
): ChatCompletionMessageParam =>
  requiresReasoning && reasoningField !== undefined && message.role === "assistant"
    ? { [reasoningField]: "", ...message }
    : message;

/** Fields that users do not set, so that no warning is needed where they are not supported. */
const silentFields: readonly string[] = ["prompt_cache_key", "parallel_tool_calls", "stream_options"];

/** Renames fields to the server's names, and leaves out those that it does not support. */
function profileFields(
  fields: Readonly<Record<ChatField, unknown>>,
  profile: ChatProfile,
  warn: Warn,
): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(defined(fields))) {
    const as = Object.hasOwn(profile.fields, name) ? Reflect.get(profile.fields, name) : name;
    if (typeof as === "string") known[as] = value;
    else if (!silentFields.includes(name)) warn(unsupportedWarning(name, profile.name));
  }
  return known;
}

function toolsToChat(
  normalized: NormalizedRequest,
  profile: ChatProfile,
  provided: readonly JsonObject[],
): ChatFields {
  if (normalized.tools.length + provided.length === 0) return {};
  const { toolChoice } = normalized;
  return {
    tools: [
      ...normalized.tools.map((tool) => toolToChat(tool, profile)),
      // The SDK does not know the tools that a server runs.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      ...(provided as unknown as ChatCompletionTool[]),
    ],
    tool_choice:
      typeof toolChoice === "string" ? toolChoice : { type: "function", function: { name: toolChoice.name } },
  };
}

function toolToChat(
  { name, description, schema }: LlmTool,
  profile: ChatProfile,
): ChatCompletionFunctionTool {
  const { schema: parameters, isExact } = toolSchema(schema, profile.strict === true);
  return {
    type: "function",
    function: {
      name,
      ...(description !== "" && { description }),
      parameters: { ...parameters },
      ...(profile.strict !== false && { strict: profile.strict === true && isExact }),
    },
  };
}

/** The format of the answer, if the server accepts it together with the tools of the request. */
function formatOf(
  { answerSchema, tools }: NormalizedRequest,
  { answerFormat, strict }: ChatProfile,
): ReturnType<typeof schemaToFormat> {
  const isAccepted = answerFormat === "always" || (answerFormat === "without-tools" && tools.length === 0);
  return answerSchema !== undefined && isAccepted ? schemaToFormat(answerSchema, strict === true) : undefined;
}
