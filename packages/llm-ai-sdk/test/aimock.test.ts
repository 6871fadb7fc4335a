import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { LLMock } from "@copilotkit/aimock";
import type { LlmMessage, LlmOutcome, LlmRequest, LlmTurn } from "@moora/llm";
import { requestOf } from "@moora/testbed/request-of";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aiSdk, type AiSdkFactory } from "../src/index.ts";

// An independent server: what it expects of a provider's package must match what this package makes of it.
let mock: LLMock;
beforeAll(async () => {
  mock = await LLMock.create({ port: 0, strict: true, chunkSize: 4 });
});
beforeEach(() => mock.clearFixtures());
afterAll(() => mock.stop());

const providers: readonly (readonly [string, string, string, AiSdkFactory])[] = [
  ["openai, Responses", "o4-mini", "/v1", (at) => createOpenAI(at).responses(at.model)],
  ["openai, Chat Completions", "o4-mini", "/v1", (at) => createOpenAI(at).chat(at.model)],
  ["anthropic", "claude-sonnet-4-5", "/v1", (at) => createAnthropic(at)(at.model)],
  ["google", "gemini-2.5-pro", "/v1beta", (at) => createGoogle(at)(at.model)],
  ["mistral", "mistral-large-latest", "/v1", (at) => createMistral(at)(at.model)],
];

const question = (text: string, ...more: readonly LlmMessage[]): LlmRequest =>
  requestOf({
    messages: [{ role: "user", content: [{ type: "text", text }] }, ...more],
    tools: [
      {
        name: "add",
        description: "Adds.",
        schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
      },
    ],
  });

const partsOf = (outcome: LlmOutcome): LlmTurn["parts"] => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  // The mock adds reasoning for models that support it.
  return outcome.turn.parts.filter(({ type }) => type !== "reasoning");
};

describe.each(providers)("@ai-sdk/%s against a mock of the provider", (_, model, path, factory) => {
  const callerOf = () => aiSdk(factory, { model, apiKey: "some-key", baseURL: `${mock.url}${path}` });

  it("answers and streams", async () => {
    mock.on({ userMessage: "hello" }, { content: "Hello, what can I do for you?" });
    const pieces: string[] = [];
    const outcome = await callerOf().call(question("hello"), {
      onChunk: (chunk) => chunk.type === "text" && pieces.push(chunk.text),
    });
    expect(partsOf(outcome)).toMatchObject([{ type: "text", text: "Hello, what can I do for you?" }]);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("Hello, what can I do for you?");
  });

  it("calls tools in parallel, and answers with their results", async () => {
    mock.on(
      { userMessage: "sum", hasToolResult: false },
      {
        toolCalls: [
          { name: "add", arguments: '{"a":1,"b":2}' },
          { name: "add", arguments: '{"a":3,"b":4}' },
        ],
      },
    );
    mock.on({ userMessage: "sum", hasToolResult: true }, { content: "The sums are 3 and 7." });
    const caller = callerOf();
    const outcome = await caller.call(question("sum"));
    expect(partsOf(outcome)).toMatchObject([
      { type: "tool-call", name: "add", arguments: '{"a":1,"b":2}' },
      { type: "tool-call", name: "add", arguments: '{"a":3,"b":4}' },
    ]);
    if (!outcome.ok) throw new Error("checked above");
    const results = ["3", "7"].map((content) => ({ isError: false, content }));
    const next = await caller.call(question("sum", { role: "assistant", turn: outcome.turn, results }));
    expect(partsOf(next)).toMatchObject([{ type: "text", text: "The sums are 3 and 7." }]);
  });

  it.each([
    [429, { message: "slow down", type: "rate_limit_error" }, "rate-limit", true],
    [401, { message: "wrong key", type: "authentication_error" }, "auth", false],
    [500, { message: "oops", type: "server_error" }, "server", true],
  ])("sends a request that fails with %i %j once, as %s", async (status, error, kind, retryable) => {
    mock.on({ userMessage: "hello" }, { content: "Hello" });
    mock.nextRequestError(status, error);
    const before = mock.getRequests().length;
    const outcome = await callerOf().call(question("hello"));
    expect(outcome).toMatchObject({ ok: false, failure: { kind, retryable, status } });
    expect(mock.getRequests().length - before).toBe(1);
  });

  it("is interrupted when the server closes the connection", async () => {
    const content = "a rather long answer that never reaches its end";
    mock.on({ userMessage: "cut" }, { content }, { truncateAfterChunks: 4, latency: 2 });
    const outcome = await callerOf().call(question("cut"));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "interrupted", retryable: true } });
    expect(!outcome.ok && content.startsWith(outcome.partial)).toBe(true);
  });
});
