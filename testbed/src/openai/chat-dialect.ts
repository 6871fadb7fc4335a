import type { JsonObject, LlmUsage } from "@moora/llm";
import {
  calledToolName,
  chatRequestProblem,
  serverSentEvent,
  type ChatServerRules,
  type ScriptedAnswer,
  type ScriptedCall,
  type ServerDialect,
  type ServerEvent,
} from "@moora/llm/testing";
import { errorCodes } from "./responses-dialect.ts";

/** The Chat Completions API of a server. */
export const chatDialect = (rules?: ChatServerRules): ServerDialect => ({
  path: "/chat/completions",
  requestProblem: (body) => chatRequestProblem(body, rules),
  events: answerToEvents,
  errorBody: (error, message) => ({ error: { ...errorCodes[error], message, param: null } }),
  errorEvent: (error) =>
    serverSentEvent(undefined, { error: { ...errorCodes[error], message: `this is ${error}` } }),
});

function answerToEvents(answer: ScriptedAnswer, body: JsonObject): ServerEvent[] {
  const { reasoning, text = [], files = [], logprobs = [], calls = [], finish, usage, earlyUsage } = answer;
  const chunk = (delta: JsonObject, finishReason: string | null = null, logprob?: number): JsonObject => ({
    id: "chatcmpl_1",
    object: "chat.completion.chunk",
    model: body["model"] ?? "model-a",
    choices: [
      {
        index: 0,
        delta,
        finish_reason: finishReason,
        logprobs:
          logprob === undefined || body["logprobs"] !== true
            ? null
            : { content: [{ token: "t", logprob, bytes: [], top_logprobs: [] }] },
      },
    ],
  });
  const chunks = [
    { ...chunk({ role: "assistant", content: "" }), usage: earlyUsage ? usageToWire(earlyUsage) : null },
    ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
    ...text.map((content, index) => chunk({ content }, null, logprobs[index])),
    ...files.map(({ mediaType, data }) =>
      chunk({ images: [{ type: "image_url", image_url: { url: `data:${mediaType};base64,${data}` } }] }),
    ),
    ...(finish === "refusal" ? [chunk({ refusal: "I cannot help with that." })] : []),
    ...callDeltas(calls, body, answer.interleaved ?? false).map((delta) => chunk({ tool_calls: [delta] })),
  ];
  const last = chunk({}, finishReasonOf(answer));
  return [
    ...chunks.map((one) => ({ text: serverSentEvent(undefined, one) })),
    { text: serverSentEvent(undefined, last), isLast: true },
    ...(usage
      ? [{ text: serverSentEvent(undefined, { ...chunk({}), choices: [], usage: usageToWire(usage) }) }]
      : []),
    { text: serverSentEvent(undefined, "[DONE]") },
  ];
}

const usageToWire = (usage: LlmUsage): JsonObject => ({
  prompt_tokens: usage.inputTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
  completion_tokens: usage.outputTokens,
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
});

function finishReasonOf({ finish, calls }: ScriptedAnswer): string {
  if (finish === "length") return "length";
  if (finish === "content-filter") return "content_filter";
  return calls ? "tool_calls" : "stop";
}

/** The first delta of a call has its id and its name, as OpenAI sends them. */
function callDeltas(calls: readonly ScriptedCall[], body: JsonObject, interleaved: boolean): JsonObject[] {
  const pieces = calls.map((call, index) => [
    {
      index,
      id: call.id ?? `call_${index}`,
      type: "function",
      function: { name: calledToolName(call, body, nameOfTool), arguments: "" },
    },
    ...call.arguments.map((piece) => ({ index, function: { arguments: piece } })),
  ]);
  if (!interleaved) return pieces.flat();
  const longest = Math.max(...pieces.map((own) => own.length));
  return Array.from({ length: longest }, (_, turn) => pieces.map((own) => own[turn]))
    .flat()
    .filter((piece) => piece !== undefined);
}

function nameOfTool({ function: called }: JsonObject): string {
  const name: unknown = typeof called === "object" && called !== null ? Reflect.get(called, "name") : "";
  return typeof name === "string" ? name : "";
}
