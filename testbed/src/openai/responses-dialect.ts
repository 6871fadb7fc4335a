import type { JsonObject, LlmUsage } from "@moora/llm";
import {
  calledToolName,
  encryptedContentOf,
  responsesRequestProblem,
  serverSentEvent,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedError,
  type ServerDialect,
  type ServerEvent,
} from "@moora/llm/testing";

/** The Responses API of a server. Reasoning has two summaries, so that restoring them is tested. */
export const responsesDialect: ServerDialect = dialectOf((text) => [text.slice(0, 4), text.slice(4)]);

/** The same, for clients that restore summaries only from the events of their parts. */
export const singleSummaryDialect: ServerDialect = dialectOf((text) => [text]);

function dialectOf(toSummaries: (text: string) => readonly string[]): ServerDialect {
  return {
    path: "/responses",
    requestProblem: responsesRequestProblem,
    events: (answer, body, issue) =>
      answerToEvents(answer, body, (text) => reasoningItem(text, toSummaries(text), issue)),
    errorBody: (error, message) => ({
      error: { ...errorCodes[error], message: messages[error] ?? message, param: null },
    }),
    errorEvent: (error) =>
      serverSentEvent("error", {
        type: "error",
        code: errorCodes[error]["code"] ?? errorCodes[error]["type"] ?? null,
        param: null,
        message: messages[error] ?? `this is ${error}`,
        sequence_number: 9,
      }),
  };
}

export const errorCodes: Readonly<Record<ScriptedError, JsonObject>> = {
  auth: { type: "invalid_request_error", code: "invalid_api_key" },
  billing: { type: "insufficient_quota", code: "insufficient_quota" },
  "rate-limit": { type: "requests", code: "rate_limit_exceeded" },
  overloaded: { type: "server_error", code: "server_is_overloaded" },
  server: { type: "server_error", code: null },
  "invalid-request": { type: "invalid_request_error", code: null },
  "context-length": { type: "invalid_request_error", code: "context_length_exceeded" },
  "rejected-reasoning": { type: "invalid_request_error", code: "invalid_encrypted_content" },
};

const messages: Readonly<Partial<Record<ScriptedError, string>>> = {
  "rejected-reasoning": "The encrypted content gAAA could not be verified.",
};

type ScriptedFile = NonNullable<ScriptedAnswer["files"]>[number];

interface Item {
  readonly begin: JsonObject;
  readonly deltas: readonly Event[];
  readonly done: JsonObject;
}

function answerToEvents(
  answer: ScriptedAnswer,
  body: JsonObject,
  toReasoning: (text: string) => Item,
): ServerEvent[] {
  const items = [
    ...(answer.reasoning === undefined ? [] : [toReasoning(answer.reasoning)]),
    ...(answer.text || answer.finish === "refusal" ? [messageItem(answer, body)] : []),
    ...(answer.files ?? []).map(imageItem),
    ...(answer.calls ?? []).map((call, index) => callItem(call, index, body)),
  ];
  const response = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: body["model"] ?? "model-a",
    output: [],
    error: null,
  };
  const usage = answer.earlyUsage ? usageToWire(answer.earlyUsage) : null;
  const begin = { type: "response.created", response: { ...response, status: "in_progress", usage } };
  const end = endOf(answer);
  return [
    begin,
    ...(answer.interleaved ? interleaved(items) : items.flatMap(itemEvents)),
    {
      type: `response.${end.status}`,
      response: { ...response, ...end, output: items.map((item) => item.done) },
    },
  ].map((event) => ({
    text: serverSentEvent(event.type, event),
    isLast: event.type === `response.${end.status}`,
  }));
}

function endOf({ finish, usage }: ScriptedAnswer): {
  readonly status: string;
  readonly [field: string]: unknown;
} {
  const reason =
    finish === "length" ? "max_output_tokens" : finish === "content-filter" ? "content_filter" : undefined;
  return {
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    usage: usage && usageToWire(usage),
  };
}

const usageToWire = (usage: LlmUsage): JsonObject => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
});

interface Event extends JsonObject {
  readonly type: string;
}

const at = (index: number, event: Event): Event => ({ ...event, output_index: index });

const itemEvents = (item: Item, index: number): Event[] => [
  at(index, { type: "response.output_item.added", item: item.begin }),
  ...item.deltas.map((delta) => at(index, delta)),
  at(index, { type: "response.output_item.done", item: item.done }),
];

/** All items start, then their deltas are interleaved, then all end. */
function interleaved(items: readonly Item[]): Event[] {
  const events = items.map(itemEvents);
  const longest = Math.max(...events.map((own) => own.length));
  return Array.from({ length: longest }, (_, turn) => events.map((own) => own[turn])).flatMap((turn) =>
    turn.filter((event) => event !== undefined),
  );
}

function reasoningItem(text: string, summaries: readonly string[], issue: (token: string) => string): Item {
  const summary = summaries.map((part) => ({ type: "summary_text", text: part }));
  const begin = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "incomplete" };
  return {
    begin,
    deltas: [
      { type: "response.reasoning_summary_text.delta", item_id: "rs_1", summary_index: 0, delta: text },
    ],
    done: { ...begin, summary, encrypted_content: issue(encryptedContentOf(summary)) },
  };
}

function messageItem({ text = [], logprobs, finish }: ScriptedAnswer, { include }: JsonObject): Item {
  const includesLogprobs = Array.isArray(include) && include.includes("message.output_text.logprobs");
  const begin = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
  const outputText = {
    type: "output_text",
    text: text.join(""),
    annotations: [],
    ...(includesLogprobs &&
      logprobs && {
        logprobs: logprobs.map((logprob) => ({ token: "t", logprob, bytes: [], top_logprobs: [] })),
      }),
  };
  const refused = { type: "refusal", refusal: "I cannot help with that." };
  return {
    begin,
    deltas: text.map((delta) => ({
      type: "response.output_text.delta",
      item_id: "msg_1",
      content_index: 0,
      delta,
    })),
    done: {
      ...begin,
      status: "completed",
      phase: "final_answer",
      content: finish === "refusal" ? [outputText, refused] : [outputText],
    },
  };
}

function imageItem({ mediaType, data }: ScriptedFile, index: number): Item {
  const begin = { id: `ig_${index}`, type: "image_generation_call", status: "in_progress", result: null };
  const output_format = mediaType.slice("image/".length);
  return { begin, deltas: [], done: { ...begin, status: "completed", output_format, result: data } };
}

function callItem(call: ScriptedCall, index: number, body: JsonObject): Item {
  const id = `fc_${index}`;
  const begin = {
    id,
    type: "function_call",
    call_id: call.id ?? `call_${index}`,
    name: calledToolName(call, body, (tool) => tool["name"]),
    status: "in_progress",
    arguments: "",
  };
  return {
    begin,
    deltas: call.arguments.map((delta) => ({
      type: "response.function_call_arguments.delta",
      item_id: id,
      delta,
    })),
    done: { ...begin, status: "completed", arguments: call.arguments.join("") },
  };
}
