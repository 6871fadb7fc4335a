import type { JsonObject } from "@moora/llm";
import {
  calledToolName,
  messagesRequestProblem,
  serverSentEvent,
  signatureOf,
  type ScriptedAnswer,
  type ScriptedError,
  type ServerDialect,
  type ServerEvent,
} from "@moora/llm/testing";

/** The Messages API of a server. */
export const messagesDialect: ServerDialect = {
  path: "/v1/messages",
  requestProblem: messagesRequestProblem,
  events: answerToEvents,
  errorBody,
  errorEvent: (error) => serverSentEvent("error", errorBody(error, `this is ${error}`)),
};

const types: Readonly<Record<ScriptedError, string>> = {
  auth: "authentication_error",
  billing: "billing_error",
  "rate-limit": "rate_limit_error",
  overloaded: "overloaded_error",
  server: "api_error",
  "invalid-request": "invalid_request_error",
  "context-length": "invalid_request_error",
  "rejected-reasoning": "invalid_request_error",
};

const sentences: Readonly<Partial<Record<ScriptedError, string>>> = {
  "context-length": "prompt is too long: 210000 tokens > 200000 maximum",
  "rejected-reasoning": "messages.1.content.0: Invalid `signature` in `thinking` block",
};

function errorBody(error: ScriptedError, message: string): JsonObject {
  const details = error === "billing" ? { error_code: "contract_spend_limit_reached" } : null;
  const said = { type: types[error], message: sentences[error] ?? message, details };
  return { type: "error", error: said, request_id: "req_1" };
}

interface Block {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function answerToEvents(
  answer: ScriptedAnswer,
  body: JsonObject,
  issue: (token: string) => string,
): ServerEvent[] {
  const blocks: Block[] = [
    ...(answer.reasoning === undefined ? [] : thinkingBlocks(answer.reasoning, issue)),
    ...(answer.text ? [textBlock(answer.text)] : []),
    ...(answer.calls ?? []).map((call, index): Block => ({
      start: {
        type: "tool_use",
        id: call.id ?? `toolu_${index}`,
        name: calledToolName(call, body, (tool) => tool["name"]),
        input: {},
        caller: { type: "direct" },
      },
      deltas: call.arguments.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    })),
  ];
  return messageEvents(blocks, answer, body).map(({ type, ...event }) => ({
    text: serverSentEvent(type, { type, ...event }),
    isLast: type === "message_stop",
  }));
}

interface Event extends JsonObject {
  readonly type: string;
}

/** The events of a message with these blocks. */
export function messageEvents(
  blocks: readonly Block[],
  answer: ScriptedAnswer,
  body: JsonObject,
  stop?: string,
): Event[] {
  const { usage } = answer;
  const early = answer.earlyUsage ?? usage;
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: body["model"] ?? "model-a",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: early ? early.inputTokens - early.cachedInputTokens - early.cacheWriteTokens : 0,
      cache_read_input_tokens: early?.cachedInputTokens ?? null,
      cache_creation_input_tokens: early?.cacheWriteTokens ?? null,
      output_tokens: 1,
    },
  };
  const stopReason = stop ?? stopReasonOf(answer);
  return [
    { type: "message_start", message },
    { type: "ping" },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: {
        stop_reason: stopReason,
        stop_sequence: null,
        stop_details:
          stopReason === "refusal"
            ? { type: "refusal", category: "cyber", explanation: "Not with this." }
            : null,
      },
      usage: {
        input_tokens: null,
        output_tokens: usage?.outputTokens ?? 0,
        output_tokens_details: { thinking_tokens: usage?.reasoningTokens ?? 0 },
      },
    },
    { type: "message_stop" },
  ];
}

function stopReasonOf({ finish, calls }: ScriptedAnswer): string {
  if (finish === "length") return "max_tokens";
  if (finish === "refusal") return "refusal";
  return calls ? "tool_use" : "end_turn";
}

export const textBlock = (pieces: readonly string[]): Block => ({
  start: { type: "text", text: "", citations: null },
  deltas: pieces.map((text) => ({ type: "text_delta", text })),
});

/** The block of signed thinking. */
function thinkingBlocks(thinking: string, issue: (token: string) => string): readonly Block[] {
  return [
    {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        { type: "thinking_delta", thinking: thinking.slice(0, 3) },
        { type: "thinking_delta", thinking: thinking.slice(3) },
        { type: "signature_delta", signature: issue(signatureOf(thinking)) },
      ],
    },
  ];
}
