import type { JsonObject, LlmRequest, LlmTool, LlmToolChoice } from "@moora/llm";
import {
  defined,
  normalizeRequest,
  providerToolsOf,
  unknownSettingWarnings,
  unsupportedWarning,
  wireIds,
  withAnswerInstruction,
  withProviderFields,
  type BodyContext,
  type NormalizedRequest,
  type WireRequest,
} from "@moora/llm/adapter";
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseIncludable,
  ResponseInputItem,
  Tool as OpenAiTool,
  ToolChoiceFunction,
  ToolChoiceOptions,
} from "openai/resources/responses/responses";
import { openAiFiles } from "./chat-profile.ts";
import { messageToItems } from "./message-to-items.ts";
import { schemaToFormat, toolSchema } from "./schema-to-format.ts";

/** The name of the caller, also in `providerOptions`. */
export const openAiName = "openai";

/** Converts a request to the body of the Responses API: stateless, streamed, and with encrypted reasoning. */
export function requestToOpenAi(
  request: LlmRequest,
  context: BodyContext,
): WireRequest<ResponseCreateParamsStreaming> {
  const warnings: string[] = unknownSettingWarnings(request.settings);
  const warn = (text: string): void => void warnings.push(text);
  const given = normalizeRequest(request, { ...context, files: openAiFiles, warn });
  const format = given.answerSchema && schemaToFormat(given.answerSchema, true);
  const normalized = format ? given : withAnswerInstruction(given, "the Responses API", warn);
  const items = normalized.messages.flatMap((message) => messageToItems(message));
  const { settings } = normalized;
  for (const name of ["seed", "stop"] as const)
    if (settings[name] !== undefined) warn(unsupportedWarning(name, "the Responses API"));

  const made: ResponseCreateParamsStreaming = {
    model: normalized.model,
    ...defined({
      instructions: normalized.system,
      max_output_tokens: settings.maxOutputTokens,
      temperature: settings.temperature,
      top_p: settings.topP,
      reasoning: settings.reasoningEffort && { effort: settings.reasoningEffort },
      prompt_cache_key: context.cacheKey === undefined ? undefined : wireIds()(context.cacheKey),
    }),
    ...toolsToOpenAi(normalized, providerToolsOf(request, openAiName)),
    ...(format && { text: { format: { type: "json_schema", ...format } } }),
    ...includeFields(normalized, context),
    // Items from the provider are sent back unchanged, and the SDK has no type for all of them.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    input: items as unknown as ResponseInputItem[],
    store: false,
    stream: true,
  };
  const body = withProviderFields(made, settings, openAiName, warn);
  return { body, normalized, warnings };
}

function toolsToOpenAi(
  normalized: NormalizedRequest,
  provided: readonly JsonObject[],
): Partial<ResponseCreateParamsStreaming> {
  if (normalized.tools.length + provided.length === 0) return {};
  return {
    // The SDK does not know all tools that the provider runs.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    tools: [...normalized.tools.map(toolToOpenAi), ...(provided as unknown as OpenAiTool[])],
    tool_choice: choiceToOpenAi(normalized.toolChoice),
    parallel_tool_calls: normalized.parallelToolCalls,
  };
}

function toolToOpenAi({ name, description, schema }: LlmTool): FunctionTool {
  const { schema: parameters, isExact: strict } = toolSchema(schema, true);
  return {
    type: "function",
    name,
    ...(description !== "" && { description }),
    parameters: { ...parameters },
    strict,
  };
}

const choiceToOpenAi = (choice: LlmToolChoice): ToolChoiceOptions | ToolChoiceFunction =>
  typeof choice === "string" ? choice : { type: "function", name: choice.name };

/** Models without reasoning reject `reasoning.encrypted_content`, so a neutral request does not include it. */
function includeFields(
  { settings }: NormalizedRequest,
  context: BodyContext,
): Partial<ResponseCreateParamsStreaming> {
  const include: ResponseIncludable[] = [
    ...(context.neutral === true ? [] : (["reasoning.encrypted_content"] as const)),
    ...(settings.confidence === true ? (["message.output_text.logprobs"] as const) : []),
  ];
  return include.length > 0 ? { include } : {};
}
