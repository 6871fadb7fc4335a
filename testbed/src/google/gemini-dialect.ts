import type { JsonObject, LlmUsage } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import {
  calledToolName,
  geminiRequestProblem,
  serverSentEvent,
  signatureOf,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedError,
  type ServerDialect,
  type ServerEvent,
} from "@moora/llm/testing";

/** The Gemini API of a server. */
export const geminiDialect: ServerDialect = {
  path: /^\/models\/[^/]+:streamGenerateContent\?alt=sse$/,
  requestProblem: geminiRequestProblem,
  events: answerToEvents,
  errorBody: (error, message) => ({ error: errorOf(error, message) }),
  errorEvent: (error) => serverSentEvent(undefined, { error: errorOf(error, `this is ${error}`) }),
};

const errors: Readonly<Record<ScriptedError, { readonly code: number; readonly status: string }>> = {
  auth: { code: 401, status: "UNAUTHENTICATED" },
  billing: { code: 403, status: "PERMISSION_DENIED" },
  "rate-limit": { code: 429, status: "RESOURCE_EXHAUSTED" },
  overloaded: { code: 503, status: "UNAVAILABLE" },
  server: { code: 500, status: "INTERNAL" },
  "invalid-request": { code: 400, status: "INVALID_ARGUMENT" },
  "context-length": { code: 400, status: "INVALID_ARGUMENT" },
  "rejected-reasoning": { code: 400, status: "INVALID_ARGUMENT" },
};

const sentences: Readonly<Partial<Record<ScriptedError, string>>> = {
  "context-length": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "rejected-reasoning": "Thought signature is not valid.",
};

const errorOf = (error: ScriptedError, message: string): JsonObject => ({
  ...errors[error],
  message: sentences[error] ?? message,
  ...(error === "billing" && {
    details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "BILLING_DISABLED" }],
  }),
});

function answerToEvents(
  answer: ScriptedAnswer,
  body: JsonObject,
  issue: (token: string) => string,
): ServerEvent[] {
  const { reasoning, text = [], files = [], calls = [], usage } = answer;
  const parts: JsonObject[] = [
    ...(reasoning === undefined
      ? []
      : [{ text: reasoning, thought: true, thoughtSignature: issue(signatureOf(reasoning)) }]),
    ...text.map((piece) => ({ text: piece })),
    ...files.map(({ mediaType: mimeType, data }) => ({ inlineData: { mimeType, data } })),
    ...calls.flatMap((call) => callToPart(call, body)),
  ];
  return [
    ...parts.map((part) => ({ text: chunkOf({ content: { role: "model", parts: [part] } }) })),
    { text: chunkOf({ finishReason: finishReasonOf(answer) }, usage), isLast: true },
  ];
}

const chunkOf = (candidate: JsonObject, usage?: LlmUsage): string =>
  serverSentEvent(undefined, {
    candidates: [{ ...candidate, index: 0 }],
    ...(usage && { usageMetadata: usageToWire(usage) }),
    responseId: "response_1",
  });

/** The arguments are an object. The server leaves out a call whose arguments the model has not finished. */
function callToPart(call: ScriptedCall, body: JsonObject): readonly JsonObject[] {
  const argumentsText = call.arguments.join("");
  const args = argumentsText === "" ? {} : textToJson(argumentsText);
  const name = calledToolName(call, declarationsOf(body), (tool) => tool["name"]);
  return isJsonObject(args) ? [{ functionCall: { ...(call.id && { id: call.id }), name, args } }] : [];
}

function declarationsOf({ tools }: JsonObject): JsonObject {
  const [first] = Array.isArray(tools) ? tools : [];
  return { tools: isJsonObject(first) ? (first["functionDeclarations"] ?? []) : [] };
}

const usageToWire = (usage: LlmUsage): JsonObject => ({
  promptTokenCount: usage.inputTokens,
  cachedContentTokenCount: usage.cachedInputTokens,
  candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
  thoughtsTokenCount: usage.reasoningTokens,
  totalTokenCount: usage.inputTokens + usage.outputTokens,
});

function finishReasonOf({ finish }: ScriptedAnswer): string {
  if (finish === "length") return "MAX_TOKENS";
  return finish === "content-filter" ? "SAFETY" : "STOP";
}
