import type { LlmChunk, LlmOutcome } from "@moora/llm";
import { serverSentEvent } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { chatProfiles, openaiChat } from "../src/index.ts";
import { requestOf } from "@moora/testbed/request-of";

const request = requestOf();

/** The outcome of a stream of these choices. A choice has a delta and an optional finish reason. */
function outcomeOf(
  choices: readonly object[],
  onChunk?: (chunk: LlmChunk) => void,
  usages: readonly object[] = [],
): Promise<LlmOutcome> {
  const chunks = choices.map((choice, index) =>
    serverSentEvent(undefined, {
      model: "snapshot",
      choices: [{ index: 0, ...choice }],
      usage: usages[index] ?? null,
    }),
  );
  const fetch: typeof globalThis.fetch = async () =>
    new Response([...chunks, serverSentEvent(undefined, "[DONE]")].join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  return openaiChat("some-model", { profile: chatProfiles.local, fetch }).call(
    request,
    onChunk && { onChunk },
  );
}

const delta = (fields: object, finish_reason: string | null = null): object => ({
  delta: fields,
  finish_reason,
});
const stop = delta({}, "stop");

describe("a completion", () => {
  it("has its text and the model that answered", async () => {
    expect(await outcomeOf([delta({ content: "Hel" }), delta({ content: "lo" }), stop])).toEqual({
      ok: true,
      model: "snapshot",
      turn: { origin: "local/chat/localhost:8080/some-model", parts: [{ type: "text", text: "Hello" }] },
      usage: {
        inputTokens: 0,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 0,
        reasoningTokens: 0,
      },
      usageMissing: true,
      finish: { unified: "stop", raw: "stop" },
    });
  });

  it("keeps the tokens of an earlier chunk where the last one has zeros", async () => {
    const usages = [
      { prompt_tokens: 40, completion_tokens: 1, total_tokens: 41 },
      { prompt_tokens: 0, completion_tokens: 9, total_tokens: 9 },
    ];
    expect(await outcomeOf([delta({ content: "Hi." }), stop], undefined, usages)).toMatchObject({
      usage: { inputTokens: 40, outputTokens: 9 },
    });
  });

  it.each([
    ["prompt_tokens_details", { prompt_tokens_details: { cached_tokens: 8 } }],
    ["a field of DeepSeek", { prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 1 }],
    ["a field of Moonshot", { cached_tokens: 8 }],
  ])(
    "has the cached tokens in %s, and the usage of the choice where the chunk has none",
    async (_, cached) => {
      const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, ...cached };
      const expected = { usage: { inputTokens: 9, cachedInputTokens: 8, outputTokens: 2 } };
      expect(await outcomeOf([delta({ content: "Hi." }), stop], undefined, [usage])).toMatchObject(expected);
      expect(await outcomeOf([delta({ content: "Hi." }), { ...stop, usage }])).toMatchObject(expected);
    },
  );

  it("has a missing usage where its server reports zeros", async () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect(await outcomeOf([delta({ content: "Hi." }), stop], undefined, [zeros, zeros])).toMatchObject({
      ok: true,
      usageMissing: true,
    });
  });

  it("names the count that its server does not report", async () => {
    const half = JSON.parse('{"prompt_tokens":1e400,"completion_tokens":7}');
    expect(await outcomeOf([delta({ content: "Hi." }), stop], undefined, [half])).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 7 },
      usageMissing: "inputTokens",
    });
  });

  it.each([
    ["reasoning_content", { reasoning_content: "hm" }, { content: "so" }],
    ["reasoning", { reasoning: "hm" }, { content: "so" }],
    [
      "a list of content",
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
      { content: [{ type: "text", text: "so" }] },
    ],
  ])("may have reasoning in %s", async (_, reasoningDelta, textDelta) => {
    const chunks: LlmChunk[] = [];
    const outcome = await outcomeOf([delta(reasoningDelta), delta(textDelta), stop], (chunk) =>
      chunks.push(chunk),
    );
    expect(outcome).toMatchObject({
      turn: {
        parts: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "so" },
        ],
      },
    });
    expect(chunks).toEqual([
      { type: "reasoning", index: 0, text: "hm" },
      { type: "text", index: 1, text: "so" },
      { type: "part-end", index: 0 },
      { type: "part-end", index: 1 },
    ]);
  });

  it("streams the arguments of a call when its name is known, also those that came before", async () => {
    const chunks: LlmChunk[] = [];
    const piece = (id: string | undefined, name: string | undefined, args: string): object =>
      delta({ tool_calls: [{ index: 0, id, function: { name, arguments: args } }] });
    const pieces = [piece("a", undefined, '{"a"'), piece(undefined, "add", ":"), piece(undefined, "", "1}")];
    await outcomeOf([...pieces, stop], (chunk) => chunks.push(chunk));
    expect(chunks).toEqual([
      { type: "tool-call", index: 0, id: "a", name: "add" },
      { type: "tool-call-delta", index: 0, text: '{"a":' },
      { type: "tool-call-delta", index: 0, text: "1}" },
      { type: "part-end", index: 0 },
    ]);
  });

  it.each([
    ["stop", "stop"],
    ["eos", "stop"],
    ["length", "length"],
    ["model_length", "length"],
    ["max_tokens", "length"],
    ["MAX_TOKENS", "length"],
    ["max_output_tokens", "length"],
    ["tool_calls", "tool-calls"],
    ["constructor", "other"],
  ])("with the finish reason %s has the finish %s", async (raw, unified) => {
    expect(await outcomeOf([delta({ content: "so" }, raw)])).toMatchObject({ finish: { unified, raw } });
  });

  it.each([
    ["content_filter", "content-filter"],
    ["error", "server"],
    ["insufficient_system_resource", "overloaded"],
    ["sensitive", "content-filter"],
    ["network_error", "server"],
    ["abort", "server"],
    ["function_call_filter: MALFORMED_FUNCTION_CALL", "malformed"],
    ["model_context_window_exceeded", "context-length"],
  ])("with the finish reason %s is the failure %s", async (raw, kind) => {
    expect(await outcomeOf([delta({ content: "so" }, raw)])).toMatchObject({
      ok: false,
      failure: { kind, raw },
      partial: "so",
    });
  });

  it("is empty if it was cut off before its first word, and says so", async () => {
    expect(await outcomeOf([delta({ reasoning: "hm" }), delta({}, "length")])).toMatchObject({
      failure: { kind: "empty", retryable: true, message: expect.stringContaining("cut off") },
    });
  });

  it("that exceeds the context window names the origin that refused it", async () => {
    expect(await outcomeOf([delta({ content: "so" }, "model_context_window_exceeded")])).toMatchObject({
      failure: { retryable: false, refusedBy: "local/chat/localhost:8080/some-model" },
    });
  });

  it("keeps the details of its reasoning, with the pieces of one detail joined", async () => {
    const text = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
    const encrypted = { type: "reasoning.encrypted", data: "abc", index: 1 };
    const outcome = await outcomeOf([
      delta({ reasoning: "Let", reasoning_details: [{ ...text, text: "Let", signature: null }] }),
      delta({ reasoning: " me", reasoning_details: [{ ...text, text: " me" }] }),
      delta({ reasoning_details: [{ ...text, signature: "sig" }, encrypted, encrypted] }),
      delta({ content: "so" }),
      stop,
    ]);
    expect(outcome).toMatchObject({
      turn: {
        parts: [
          {
            type: "reasoning",
            text: "Let me",
            raw: [{ ...text, text: "Let me", signature: "sig" }, encrypted, encrypted],
          },
          { type: "text", text: "so" },
        ],
      },
    });
  });

  it("keeps the details of its reasoning, also if they have no text", async () => {
    const detail = { type: "reasoning.encrypted", id: "call_1", data: "abc" };
    const call = { index: 0, id: "call_1", function: { name: "add", arguments: "{}" } };
    expect(await outcomeOf([delta({ reasoning_details: [detail], tool_calls: [call] }), stop])).toMatchObject(
      {
        turn: {
          parts: [
            { type: "reasoning", text: "", raw: [detail] },
            { type: "tool-call", id: "call_1" },
          ],
        },
      },
    );
  });

  it("has the finish tool-calls, even if the server sends stop", async () => {
    const call = { index: 0, id: "a", function: { name: "add", arguments: "{}" } };
    expect(await outcomeOf([delta({ tool_calls: [call] }), stop])).toMatchObject({
      turn: { parts: [{ type: "tool-call", id: "a", name: "add", arguments: "{}" }] },
      finish: { unified: "tool-calls", raw: "stop" },
    });
  });

  it("is malformed if a call has no name", async () => {
    const call = { index: 0, id: "a", function: { arguments: "{}" } };
    expect(await outcomeOf([delta({ tool_calls: [call] }), stop])).toMatchObject({
      failure: { kind: "malformed" },
    });
  });

  it("has the first choice only", async () => {
    const outcome = await outcomeOf([
      { index: 1, ...delta({ content: "other" }) },
      { index: undefined, ...delta({ content: "mine" }) },
      { delta: null },
      stop,
    ]);
    expect(outcome).toMatchObject({ turn: { parts: [{ text: "mine" }] } });
  });
});
