import { LLMock } from "@copilotkit/aimock";
import type { LlmCaller, LlmMessage, LlmOutcome, LlmRequest, LlmTurn } from "@moora/llm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OpenAiCaller, OpenAiChatCaller } from "../src/index.ts";

// An independent server: its understanding of the protocol must match that of our own test server.
let mock: LLMock;
beforeAll(async () => {
  mock = await LLMock.create({ port: 0, strict: true, chunkSize: 4 });
});
beforeEach(() => mock.clearFixtures());
afterAll(() => mock.stop());

const callers: readonly (readonly [string, () => LlmCaller])[] = [
  ["Responses", () => new OpenAiCaller({ apiKey: "some-key", baseURL: `${mock.url}/v1` })],
  ["Chat Completions", () => new OpenAiChatCaller({ apiKey: "some-key", baseURL: `${mock.url}/v1` })],
];

const requestOf = (text: string, ...more: readonly LlmMessage[]): LlmRequest => ({
  purpose: "plan",
  model: "o4-mini",
  system: "",
  messages: [{ role: "user", content: [{ type: "text", text }] }, ...more],
  tools: [
    {
      name: "add",
      description: "Adds.",
      schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    },
  ],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
});

const partsOf = (outcome: LlmOutcome): LlmTurn["parts"] => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  return outcome.turn.parts;
};

/** This mock always sends reasoning for models that support it. */
const contentOf = (outcome: LlmOutcome): LlmTurn["parts"] =>
  partsOf(outcome).filter(({ type }) => type !== "reasoning");

describe.each(callers)("%s against a mock of the provider", (_, callerOf) => {
  it("answers and streams", async () => {
    mock.on({ userMessage: "hello" }, { content: "Hello, what can I do for you?" });
    const pieces: string[] = [];
    const outcome = await callerOf().call(requestOf("hello"), {
      onChunk: (chunk) => chunk.type === "text" && pieces.push(chunk.text),
    });
    expect(contentOf(outcome)).toMatchObject([{ type: "text", text: "Hello, what can I do for you?" }]);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("Hello, what can I do for you?");
  });

  it("reasons, calls tools in parallel, and answers with their results", async () => {
    mock.on(
      { userMessage: "sum", hasToolResult: false },
      {
        reasoning: "I must add twice.",
        toolCalls: [
          { id: "call_1", name: "add", arguments: '{"a":1,"b":2}' },
          { id: "call_2", name: "add", arguments: '{"a":3,"b":4}' },
        ],
      },
    );
    mock.on({ userMessage: "sum", hasToolResult: true }, { content: "The sums are 3 and 7." });
    const caller = callerOf();
    const outcome = await caller.call(requestOf("sum"));
    expect(partsOf(outcome)).toMatchObject([
      { type: "reasoning", text: "I must add twice." },
      { type: "tool-call", id: "call_1", name: "add", arguments: '{"a":1,"b":2}' },
      { type: "tool-call", id: "call_2", name: "add", arguments: '{"a":3,"b":4}' },
    ]);
    if (!outcome.ok) throw new Error("checked above");
    const results = ["3", "7"].map((content) => ({ isError: false, content }));
    const next = await caller.call(requestOf("sum", { role: "assistant", turn: outcome.turn, results }));
    expect(contentOf(next)).toMatchObject([{ type: "text", text: "The sums are 3 and 7." }]);
  });

  it.each([
    [
      429,
      { message: "slow down", type: "rate_limit_error", code: "rate_limit_exceeded" },
      "rate-limit",
      true,
    ],
    [429, { message: "no credit", type: "insufficient_quota", code: "insufficient_quota" }, "billing", false],
    [401, { message: "wrong key", type: "invalid_request_error", code: "invalid_api_key" }, "auth", false],
    [500, { message: "oops", type: "server_error" }, "server", true],
  ])("sends a request that fails with %i %j once, as %s", async (status, error, kind, retryable) => {
    mock.on({ userMessage: "hello" }, { content: "Hello" });
    mock.nextRequestError(status, error);
    const before = mock.getRequests().length;
    const outcome = await callerOf().call(requestOf("hello"));
    expect(outcome).toMatchObject({ ok: false, failure: { kind, retryable, status } });
    expect(mock.getRequests().length - before).toBe(1);
  });

  it("is interrupted when the server closes the connection", async () => {
    const content = "a rather long answer that never reaches its end";
    mock.on({ userMessage: "cut" }, { content }, { truncateAfterChunks: 4, latency: 2 });
    const outcome = await callerOf().call(requestOf("cut"));
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "interrupted", retryable: true } });
    expect(!outcome.ok && content.startsWith(outcome.partial)).toBe(true);
  });
});
