import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { LlmChunk, LlmOutcome } from "@moora/llm";
import { outputOfScript } from "@moora/testbed/llm/call-endings";
import { requestOf } from "@moora/testbed/request-of";
import { describe, expect, it } from "vitest";
import { aiSdk } from "../src/index.ts";
import { finish, scriptedModel, textParts } from "./support/scripted-model.ts";

/** An error as the AI SDK throws it for a call that failed. */
const callError = (fields: object, message: string = "It failed."): Error =>
  Object.assign(new Error(message), { name: "AI_APICallError", ...fields });

const failureOf = (outcome: LlmOutcome): unknown => (outcome.ok ? outcome : outcome.failure);

describe("a caller of a model that is ready", () => {
  it("has the name of its provider, and its model", () => {
    expect(aiSdk(scriptedModel([]))).toMatchObject({ name: "acme", model: "model-a" });
    expect(aiSdk(scriptedModel([]), { name: "mine" }).name).toBe("mine");
  });

  it.each([
    { baseURL: "http://127.0.0.1:1" },
    { apiKey: "k" },
    { model: "b" },
    { keyName: "KEY" },
    { fetch },
  ])("does not take what applies to a factory only: %o", (options) => {
    expect(() => aiSdk(scriptedModel([]), options)).toThrow("applies to a factory only");
  });

  it("answers with the text and the warnings of the model", async () => {
    const model = scriptedModel([
      { type: "stream-start", warnings: [{ type: "unsupported", feature: "seed", details: "no seeds" }] },
      { type: "response-metadata", modelId: "model-a-1" },
      ...textParts("Hello."),
      finish(),
    ]);
    expect(await aiSdk(model).call(requestOf())).toMatchObject({
      ok: true,
      model: "model-a-1",
      turn: { origin: "acme/ai-sdk:acme.chat/model-a", parts: [{ type: "text", text: "Hello." }] },
      warnings: ["seed is not supported: no seeds"],
    });
  });

  it("refuses a request for another model instead of answering with its own", async () => {
    const model = scriptedModel([...textParts("Hello."), finish()]);
    expect(failureOf(await aiSdk(model).call(requestOf({ model: "model-b" })))).toMatchObject({
      kind: "invalid-request",
      message: expect.stringContaining("This caller has the model model-a, and the request names model-b."),
    });
    expect(model.calls).toEqual([]);
  });

  it.each([
    [
      {
        statusCode: 429,
        responseHeaders: { "retry-after": "2" },
        responseBody: '{"error":{"message":"slow"}}',
      },
      { kind: "rate-limit", status: 429, retryAfterMs: 2000, retryable: true },
    ],
    [
      { statusCode: 401, responseBody: "" },
      { kind: "auth", status: 401, retryable: false },
    ],
    [
      { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) },
      { kind: "connection", raw: "ECONNREFUSED", retryable: true },
    ],
  ])("reads the failure of a call from the error %j", async (fields, failure) => {
    expect(failureOf(await aiSdk(scriptedModel(callError(fields))).call(requestOf()))).toMatchObject(failure);
  });

  it("reports a missing key as the failure auth, with the message of the provider", async () => {
    const error = Object.assign(new Error("Set ACME_API_KEY."), { name: "AI_LoadAPIKeyError" });
    expect(failureOf(await aiSdk(scriptedModel(error)).call(requestOf()))).toMatchObject({
      kind: "auth",
      message: expect.stringContaining("Set ACME_API_KEY."),
    });
  });

  it.each([
    [{ type: "error", error: { message: "busy", type: "overloaded_error" } } as const, "overloaded"],
    [{ type: "error", error: callError({ statusCode: 500, responseBody: "" }) } as const, "server"],
    [
      { type: "error", error: Object.assign(new Error("?"), { name: "AI_JSONParseError" }) } as const,
      "malformed",
    ],
    [{ type: "error", error: new Error("The socket broke.") } as const, "interrupted"],
    [finish("interrupted", undefined), "interrupted"],
    [finish("error", "MALFORMED_FUNCTION_CALL"), "malformed"],
    [finish("error", "internal"), "server"],
    [finish("other", "network_error"), "server"],
    [finish("other", "sensitive"), "content-filter"],
    [finish("other", "model_context_window_exceeded"), "context-length"],
    [finish("content-filter", "SAFETY"), "content-filter"],
    [finish("content-filter", "refusal"), "refusal"],
    [finish("stop", "refusal"), "refusal"],
  ])("ends with the text so far after %j", async (last, kind) => {
    const outcome = await aiSdk(scriptedModel([...textParts("Hel"), last])).call(requestOf());
    expect(outcome).toMatchObject({ ok: false, partial: "Hel", failure: { kind } });
  });

  it.each([
    ["stop", "tool_use"],
    ["length", "model_context_window_exceeded"],
  ] as const)("has the finish %s that its package reads in %s", async (unified, raw) => {
    const outcome = await aiSdk(scriptedModel([...textParts("{}"), finish(unified, raw)])).call(requestOf());
    expect(outcome).toMatchObject({ ok: true, finish: { unified, raw } });
  });

  it("is cut off where only the provider's own word says so", async () => {
    const cut = await aiSdk(scriptedModel([...textParts("Hel"), finish("other", "max_tokens")])).call(
      requestOf(),
    );
    expect(cut).toMatchObject({ finish: { unified: "length", raw: "max_tokens" } });
  });

  it("is interrupted where the stream ends without a last part, and empty where it has no part", async () => {
    const cut = await aiSdk(scriptedModel(textParts("Hel"))).call(requestOf());
    expect(failureOf(cut)).toMatchObject({ kind: "interrupted" });
    const empty = await aiSdk(scriptedModel([{ type: "stream-start", warnings: [] }])).call(requestOf());
    expect(failureOf(empty)).toMatchObject({ kind: "empty" });
    const cutEarly = await aiSdk(scriptedModel([finish("other", "max_tokens")])).call(requestOf());
    expect(failureOf(cutEarly)).toMatchObject({ kind: "empty", message: expect.stringContaining("cut off") });
  });
});

describe("the parts of an answer", () => {
  it("keep metadata, and what the provider ran itself, for the next request to the same model", async () => {
    const meta = { acme: { signature: "s" } };
    const model = scriptedModel([
      { type: "reasoning-start", id: "r", providerMetadata: { acme: { id: "r1" } } },
      { type: "reasoning-delta", id: "r", delta: "Hm." },
      { type: "reasoning-end", id: "r", providerMetadata: meta },
      { type: "tool-call", toolCallId: "s1", toolName: "search", input: '{"q":1}', providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", toolName: "search", result: { found: true } },
      {
        type: "file",
        mediaType: "image/jpeg",
        data: { type: "data", data: new Uint8Array([0xff, 0xd8, 0xff]) },
      },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "A", providerMetadata: meta },
      { type: "text-end", id: "0" },
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "B" },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: "", providerMetadata: meta },
      finish("tool-calls"),
    ]);
    const caller = aiSdk(model);
    const names: string[] = [];
    const outcome = await caller.call(requestOf(), {
      onChunk: (chunk) => chunk.type === "tool-call" && names.push(chunk.name),
    });
    if (!outcome.ok) throw new Error(outcome.failure.message);
    expect(names).toEqual(["add"]);
    expect(outcome.turn.parts.map(({ type }) => type)).toEqual([
      "reasoning",
      "opaque",
      "opaque",
      "file",
      "text",
      "text",
      "tool-call",
    ]);
    const turn: unknown = JSON.parse(JSON.stringify(outcome.turn));
    expect(turn).toEqual(outcome.turn);
    const results = [{ isError: false, content: "3" }];
    await caller.call(
      requestOf({ messages: [...requestOf().messages, { role: "assistant", turn: outcome.turn, results }] }),
    );
    expect(model.calls[1]?.prompt.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { acme: { id: "r1", signature: "s" } } },
          {
            type: "tool-call",
            toolCallId: "s1",
            toolName: "search",
            input: { q: 1 },
            providerExecuted: true,
          },
          {
            type: "tool-result",
            toolCallId: "s1",
            toolName: "search",
            output: { type: "json", value: { found: true } },
          },
          { type: "file", mediaType: "image/jpeg", data: { type: "data", data: "/9j/" } },
          { type: "text", text: "A", providerOptions: meta },
          { type: "text", text: "B" },
          { type: "tool-call", toolCallId: "c1", toolName: "add", input: {}, providerOptions: meta },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "add", output: { type: "text", value: "3" } },
        ],
      },
    ]);
  });
});

describe("the chunks of an answer", () => {
  const chunksOf = async (...parts: readonly LanguageModelV4StreamPart[]): Promise<readonly LlmChunk[]> => {
    const chunks: LlmChunk[] = [];
    const caller = aiSdk(scriptedModel([...parts, finish("tool-calls")]));
    const outcome = await caller.call(requestOf(), { onChunk: (chunk) => chunks.push(chunk) });
    expect(outcome.ok).toBe(true);
    return chunks;
  };

  it("have the arguments of calls, which are put where they have started", async () => {
    const chunks: LlmChunk[] = [];
    const caller = aiSdk(
      scriptedModel([
        { type: "tool-input-start", id: "a", toolName: "add" },
        { type: "tool-input-delta", id: "a", delta: '{"of":' },
        { type: "tool-input-start", id: "b", toolName: "add" },
        { type: "tool-input-delta", id: "b", delta: "{}" },
        { type: "tool-input-end", id: "b" },
        { type: "tool-call", toolCallId: "b", toolName: "add", input: "{}" },
        { type: "tool-input-delta", id: "a", delta: "1}" },
        { type: "tool-call", toolCallId: "a", toolName: "add", input: '{"of":1}' },
        { type: "tool-input-start", id: "never", toolName: "add" },
        finish("tool-calls"),
      ]),
    );
    const outcome = await caller.call(requestOf(), { onChunk: (chunk) => chunks.push(chunk) });
    expect(outcome).toMatchObject({ turn: { parts: [{ id: "a" }, { id: "b" }] } });
    expect(chunks).toEqual([
      { type: "tool-call", index: 0, id: "a", name: "add" },
      { type: "tool-call-delta", index: 0, text: '{"of":' },
      { type: "tool-call", index: 1, id: "b", name: "add" },
      { type: "tool-call-delta", index: 1, text: "{}" },
      { type: "part-end", index: 1 },
      { type: "tool-call-delta", index: 0, text: "1}" },
      { type: "part-end", index: 0 },
      { type: "tool-call", index: 2, id: "never", name: "add" },
      { type: "part-end", index: 2 },
    ]);
  });

  it("have arguments in one piece where the model streams none, or plain text", async () => {
    const call = { type: "tool-call", toolName: "write" } as const;
    expect(
      await chunksOf(
        { ...call, toolCallId: "a", input: '{"text":"x"}' },
        { type: "tool-input-start", id: "b", toolName: "write", inputEncoding: "text" },
        { type: "tool-input-delta", id: "b", delta: "y" },
        { ...call, toolCallId: "b", input: '{"text":"y"}' },
      ),
    ).toEqual([
      { type: "tool-call", index: 0, id: "a", name: "write" },
      { type: "tool-call-delta", index: 0, text: '{"text":"x"}' },
      { type: "part-end", index: 0 },
      { type: "tool-call", index: 1, id: "b", name: "write" },
      { type: "tool-call-delta", index: 1, text: '{"text":"y"}' },
      { type: "part-end", index: 1 },
    ]);
  });

  it("have nothing of a tool that the provider runs itself", async () => {
    expect(
      await chunksOf(
        { type: "tool-input-start", id: "s", toolName: "search", providerExecuted: true },
        { type: "tool-input-delta", id: "s", delta: "{}" },
        { type: "tool-call", toolCallId: "s", toolName: "search", input: "{}", providerExecuted: true },
        ...textParts("Found."),
      ),
    ).toEqual([
      { type: "text", index: 0, text: "Found." },
      { type: "part-end", index: 0 },
    ]);
  });
});

describe("a call", () => {
  it("leaves no timer and no socket open, in whichever way it ends", () =>
    expect(outputOfScript(`${import.meta.dirname}/support/every-ending.ts`)).resolves.toBe("done"));
});
