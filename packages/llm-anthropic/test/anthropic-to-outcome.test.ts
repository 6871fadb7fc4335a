import type { JsonObject, LlmOutcome, LlmRequest } from "@moora/llm";
import { isJsonObject } from "@moora/llm/adapter";
import { serverSentEvent } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AnthropicCaller } from "../src/index.ts";
import { requestToAnthropic } from "../src/wire.ts";
import { messageEvents, textBlock } from "@moora/testbed/anthropic/messages-dialect";
import { requestOf } from "@moora/testbed/request-of";

const request = requestOf({ model: "some-model" });

interface Event extends JsonObject {
  readonly type: string;
}

/** The outcome of a call whose requests get these streams, and the bodies of the requests. */
async function exchange(
  ...streams: readonly (readonly Event[])[]
): Promise<{ readonly outcome: LlmOutcome; readonly bodies: readonly JsonObject[] }> {
  const bodies: JsonObject[] = [];
  const caller = new AnthropicCaller({
    apiKey: "some-key",
    fetch: async (_, init) => {
      const events = streams[bodies.length] ?? [];
      bodies.push(typeof init?.body === "string" ? JSON.parse(init.body) : {});
      return new Response(events.map((event) => serverSentEvent(event.type, event)).join(""), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  return { outcome: await caller.call(request), bodies };
}

const outcomeOf = async (...events: readonly Event[]): Promise<LlmOutcome> =>
  (await exchange(events)).outcome;

const usage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteTokens: 10,
  outputTokens: 30,
  reasoningTokens: 12,
};
const message = (blocks: Parameters<typeof messageEvents>[0], stop?: string): Event[] =>
  messageEvents(blocks, { usage }, { model: "snapshot" }, stop);

const whole = (start: JsonObject): Parameters<typeof messageEvents>[0][number] => ({ start, deltas: [] });
const citation = { type: "char_location", cited_text: "x", document_index: 0 };
const search = {
  type: "server_tool_use",
  id: "srv_1",
  name: "web_search",
  input: {},
  caller: { type: "direct" },
};
const found = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] };

describe("a message", () => {
  it("consists of its blocks, with all input counted", async () => {
    expect(await outcomeOf(...message([textBlock(["Hel", "lo"])]))).toEqual({
      ok: true,
      model: "snapshot",
      turn: {
        origin: "anthropic/messages/api.anthropic.com/some-model",
        parts: [{ type: "text", text: "Hello" }],
      },
      usage,
      finish: { unified: "stop", raw: "end_turn" },
    });
  });

  it("is sent back with its blocks unchanged", async () => {
    const blocks = [
      {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          { type: "thinking_delta", thinking: "hm" },
          { type: "signature_delta", signature: "sig" },
        ],
      },
      whole({ type: "redacted_thinking", data: "hidden" }),
      {
        start: search,
        deltas: [
          { type: "input_json_delta", partial_json: '{"query":' },
          { type: "input_json_delta", partial_json: '"x"}' },
        ],
      },
      whole(found),
      {
        start: { type: "text", text: "", citations: [] },
        deltas: [
          { type: "text_delta", text: "See x." },
          { type: "citations_delta", citation },
        ],
      },
      {
        start: {
          type: "tool_use",
          id: "toolu_1",
          name: "add",
          input: {},
          caller: { type: "code_execution_20260120", tool_id: "srv_1" },
        },
        deltas: [{ type: "input_json_delta", partial_json: '{"a": 1}' }],
      },
    ];
    const outcome = await outcomeOf(...message(blocks, "tool_use"));
    if (!outcome.ok) throw new Error(JSON.stringify(outcome));
    expect(outcome.turn.parts).toMatchObject([
      { type: "reasoning", text: "hm", raw: { signature: "sig" } },
      { type: "reasoning", text: "", raw: { data: "hidden" } },
      { type: "opaque" },
      { type: "opaque" },
      { type: "text", text: "See x.", raw: { citations: [citation] } },
      { type: "tool-call", arguments: '{"a": 1}' },
    ]);
    const messages: LlmRequest["messages"] = [
      ...request.messages,
      { role: "assistant", turn: outcome.turn, results: [{ isError: false, content: "ok" }] },
    ];
    const { body } = requestToAnthropic({ ...request, messages }, { origin: outcome.turn.origin });
    expect(body.messages[1]?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "redacted_thinking", data: "hidden" },
      { ...search, input: { query: "x" } },
      found,
      { type: "text", text: "See x.", citations: [citation] },
      {
        type: "tool_use",
        id: "toolu_1",
        name: "add",
        input: { a: 1 },
        caller: { type: "code_execution_20260120", tool_id: "srv_1" },
      },
    ]);
  });

  it("has no raw form for a block without additional fields", async () => {
    const call = {
      type: "tool_use",
      id: "toolu_1",
      name: "add",
      input: { a: 1 },
      caller: { type: "direct" },
    };
    expect(await outcomeOf(...message([textBlock(["so"]), whole(call)], "tool_use"))).toMatchObject({
      turn: {
        parts: [
          { type: "text", text: "so" },
          { type: "tool-call", id: "toolu_1", name: "add", arguments: '{"a":1}' },
        ],
      },
    });
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["tool_use", "tool-calls"],
    ["max_tokens", "length"],
    ["something_new", "other"],
  ])("with the stop reason %s has the finish %s", async (raw, unified) => {
    expect(await outcomeOf(...message([textBlock(["so"])], raw))).toMatchObject({ finish: { unified, raw } });
  });

  it("has the text of blocks that begin without their empty fields", async () => {
    const start = (index: number, content_block: JsonObject): Event => ({
      type: "content_block_start",
      index,
      content_block,
    });
    const grow = (index: number, delta: JsonObject): Event => ({ type: "content_block_delta", index, delta });
    const stop = (index: number): Event => ({ type: "content_block_stop", index });
    const [first, ...last] = message([]);
    if (!first) throw new Error("a message begins with something");
    const outcome = await outcomeOf(
      first,
      start(0, { type: "thinking" }),
      grow(0, { type: "thinking_delta", thinking: "hm" }),
      grow(0, { type: "signature_delta", signature: "sig" }),
      stop(0),
      start(1, { type: "text" }),
      grow(1, { type: "text_delta", text: "so" }),
      stop(1),
      ...last,
    );
    expect(outcome).toMatchObject({
      turn: {
        parts: [
          { type: "reasoning", text: "hm", raw: { signature: "sig" } },
          { type: "text", text: "so" },
        ],
      },
    });
  });

  it("has all of its blocks, also where a gateway gives them one index", async () => {
    const call = (id: string): JsonObject => ({ type: "tool_use", id, name: "add", input: {} });
    const events = message([textBlock(["so"]), whole(call("a")), whole(call("b"))], "tool_use");
    const outcome = await outcomeOf(
      ...events.map((event) => ("index" in event ? { ...event, index: 0 } : event)),
    );
    expect(outcome).toMatchObject({
      turn: {
        parts: [
          { type: "text", text: "so" },
          { type: "tool-call", id: "a" },
          { type: "tool-call", id: "b" },
        ],
      },
    });
  });

  it("keeps its stop reason where a later event has none", async () => {
    const usageOnly = { type: "message_delta", delta: { stop_reason: null }, usage: { output_tokens: 31 } };
    const events = message([textBlock(["so"])], "max_tokens").toSpliced(-1, 0, usageOnly);
    expect(await outcomeOf(...events)).toMatchObject({ finish: { unified: "length", raw: "max_tokens" } });
  });

  it("that was refused is a failure with the category and the explanation", async () => {
    expect(await outcomeOf(...message([textBlock(["so"])], "refusal"))).toEqual({
      ok: false,
      failure: { kind: "refusal", message: "Not with this.", retryable: false, raw: "cyber" },
      partial: "so",
      usage,
    });
  });

  it("that exceeds the context window is a context-length failure", async () => {
    expect(await outcomeOf(...message([textBlock(["so"])], "model_context_window_exceeded"))).toMatchObject({
      failure: { kind: "context-length", retryable: false },
      partial: "so",
    });
  });

  it("is malformed if a block has no end or no start", async () => {
    const events = message([textBlock(["so"])]);
    const malformed = { ok: false, failure: { kind: "malformed", retryable: true } };
    expect(await outcomeOf(...events.filter(({ type }) => type !== "content_block_stop"))).toMatchObject(
      malformed,
    );
    expect(await outcomeOf(...events.filter(({ type }) => type !== "content_block_start"))).toMatchObject(
      malformed,
    );
  });

  it("may end in the middle of a block at the token limit", async () => {
    const events = message([textBlock(["so"])], "max_tokens").filter(
      ({ type }) => type !== "content_block_stop",
    );
    expect(await outcomeOf(...events)).toMatchObject({ ok: true, finish: { unified: "length" } });
    expect(await outcomeOf(...message([], "max_tokens"))).toMatchObject({
      failure: { kind: "empty", message: expect.stringContaining("cut off") },
    });
  });

  it("skips events that are unknown", async () => {
    const [start, ...rest] = message([textBlock(["so"])]);
    if (!start) throw new Error("a message begins with something");
    expect(await outcomeOf(start, { type: "message_hum" }, ...rest)).toMatchObject({ ok: true });
  });
});

const lastMessages = (body: JsonObject | undefined): unknown =>
  isJsonObject(body) && Array.isArray(body["messages"]) ? body["messages"].slice(1) : undefined;

describe("the usage of a message", () => {
  const reporting = (first: JsonObject, last: JsonObject): Promise<LlmOutcome> => {
    const events = message([textBlock(["Hi."])]).map((event): Event => {
      if (event.type === "message_delta") return { ...event, usage: last };
      const start = event["message"];
      return isJsonObject(start) ? { ...event, message: { ...start, usage: first } } : event;
    });
    return outcomeOf(...events);
  };

  it("keeps the input of the first event where the last one has zeros for it", async () => {
    expect(
      await reporting(
        { input_tokens: 15_000, cache_read_input_tokens: 2_000, output_tokens: 1 },
        { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 45 },
      ),
    ).toMatchObject({ usage: { inputTokens: 17_000, cachedInputTokens: 2_000, outputTokens: 45 } });
  });

  it("is that of the last event where it splits the input of the first one", async () => {
    expect(
      await reporting(
        { input_tokens: 5_000, output_tokens: 0 },
        { input_tokens: 0, cache_read_input_tokens: 5_000, output_tokens: 9 },
      ),
    ).toMatchObject({ usage: { inputTokens: 5_000, cachedInputTokens: 5_000, outputTokens: 9 } });
  });

  it("is missing where all counts are zero", async () => {
    expect(await reporting({ input_tokens: 0, output_tokens: 0 }, { output_tokens: 0 })).toMatchObject({
      ok: true,
      usageMissing: true,
    });
  });
});

describe("the usage of a gateway that reports no output", () => {
  it("names the count that is missing", async () => {
    const events = message([textBlock(["Hi."])]).map((event): Event =>
      event.type === "message_delta" ? { ...event, usage: {} } : event,
    );
    const quiet = events.map((event): Event => {
      const start = event["message"];
      return isJsonObject(start) ? { ...event, message: { ...start, usage: { input_tokens: 9 } } } : event;
    });
    expect(await outcomeOf(...quiet)).toMatchObject({
      usage: { inputTokens: 9, outputTokens: 0 },
      usageMissing: "outputTokens",
    });
  });
});

describe("a paused turn", () => {
  it("is continued in the same call, with its blocks unchanged", async () => {
    const { outcome, bodies } = await exchange(
      message([whole({ ...search, input: { query: "x" } })], "pause_turn"),
      message([whole(found)], "pause_turn"),
      message([textBlock(["So."])]),
    );
    expect(outcome).toMatchObject({
      ok: true,
      turn: { parts: [{ type: "opaque" }, { type: "opaque" }, { type: "text", text: "So." }] },
      usage: { inputTokens: 300, outputTokens: 90, reasoningTokens: 36 },
      finish: { unified: "stop", raw: "end_turn" },
    });
    const made = { ...search, input: { query: "x" } };
    expect(bodies.map(lastMessages)).toEqual([
      [],
      [{ role: "assistant", content: [made] }],
      [{ role: "assistant", content: [made, found] }],
    ]);
  });

  it("fails with the text so far if its continuation fails", async () => {
    const { outcome } = await exchange(message([textBlock(["First, "])], "pause_turn"), []);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "empty" }, partial: "First, ", usage });
  });

  it("is continued a limited number of times", async () => {
    const pause = message([textBlock(["again "])], "pause_turn");
    const { outcome, bodies } = await exchange(...Array.from({ length: 40 }, () => pause));
    expect(outcome).toMatchObject({ ok: true, finish: { unified: "other", raw: "pause_turn" } });
    expect(bodies).toHaveLength(17);
  });
});
