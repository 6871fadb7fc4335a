import {
  defined,
  requestToSendable,
  strictSchema,
  unknownSettings,
  wireIds,
  withAnswerInstruction,
  type BodyContext,
  type LlmRequest,
  type LlmTool,
  type LlmToolChoice,
  type Sendable,
  type WireRequest,
} from "@moora/llm";
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseIncludable,
  ResponseInputItem,
  ToolChoiceFunction,
  ToolChoiceOptions,
} from "openai/resources/responses/responses";
import { messageToItems } from "./message-to-items.ts";
import { openAiStrictRules, schemaToFormat } from "./schema-to-format.ts";

/** The name under which settings name fields of this API. */
export const openAiName = "openai";

/** A request in the words of the Responses API: stateless, streamed, with reasoning that can be given back. */
export function requestToOpenAi(
  request: LlmRequest,
  context: BodyContext,
): WireRequest<ResponseCreateParamsStreaming> {
  const warnings: string[] = unknownSettings(request.settings);
  const warn = (text: string): void => void warnings.push(text);
  const given = requestToSendable(request, context);
  const format = given.answerSchema && schemaToFormat(given.answerSchema);
  const sendable = format ? given : withAnswerInstruction(given, "the Responses API", warn);
  const items = sendable.messages.flatMap((message) => messageToItems(message, warn));
  const { settings } = sendable;
  for (const name of ["seed", "stop"] as const) {
    if (settings[name] !== undefined) warn(`${name} was left out: the Responses API does not know it`);
  }
  const body: ResponseCreateParamsStreaming = {
    model: sendable.model,
    ...defined({
      instructions: sendable.system,
      max_output_tokens: settings.maxOutputTokens,
      temperature: settings.temperature,
      top_p: settings.topP,
      reasoning: settings.reasoningEffort && { effort: settings.reasoningEffort },
      prompt_cache_key: context.cacheKey === undefined ? undefined : wireIds()(context.cacheKey),
    }),
    ...toolsToOpenAi(sendable),
    ...(format && { text: { format: { type: "json_schema", ...format } } }),
    ...included(sendable, context),
    // Items that came from the provider go back as they came, and no type of the client describes them all.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    input: items as unknown as ResponseInputItem[],
    store: false,
    ...settings.providerOptions?.[openAiName],
    stream: true,
  };
  return { body, sendable, warnings };
}

function toolsToOpenAi(sendable: Sendable): Partial<ResponseCreateParamsStreaming> {
  if (sendable.tools.length === 0) return {};
  return {
    tools: sendable.tools.map(toolToOpenAi),
    tool_choice: choiceToOpenAi(sendable.toolChoice),
    parallel_tool_calls: sendable.parallelToolCalls,
  };
}

function toolToOpenAi({ name, description, schema }: LlmTool): FunctionTool {
  const strict = strictSchema(schema, openAiStrictRules);
  return {
    type: "function",
    name,
    ...(description !== "" && { description }),
    parameters: { ...(strict ?? schema) },
    strict: strict !== undefined,
  };
}

const choiceToOpenAi = (choice: LlmToolChoice): ToolChoiceOptions | ToolChoiceFunction =>
  typeof choice === "string" ? choice : { type: "function", name: choice.name };

/** Models that do not reason refuse to hear of it, so a neutral request does not ask for it. */
function included({ settings }: Sendable, context: BodyContext): Partial<ResponseCreateParamsStreaming> {
  const include: ResponseIncludable[] = [
    ...(context.neutral === true ? [] : (["reasoning.encrypted_content"] as const)),
    ...(settings.confidence === true ? (["message.output_text.logprobs"] as const) : []),
  ];
  return include.length > 0 ? { include } : {};
}
