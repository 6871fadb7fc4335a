import type { LlmMessage, LlmPart, LlmRequest } from "@moora/llm";
import { recordingFetch } from "@moora/llm/testing";
import { exampleRequest } from "@moora/testbed/llm/example-request";
import { describe, expect, it } from "vitest";
import { AnthropicCaller } from "../src/index.ts";
import { requestToAnthropic, type AnthropicContext } from "../src/wire.ts";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";

const origin = "anthropic/messages/api.anthropic.com/some-model";
const rich = exampleRequest(origin, { text: "Two cities.", raw: { signature: "sig" } });

const made = (
  known: Partial<LlmRequest>,
  context: Partial<AnthropicContext> = {},
): ReturnType<typeof requestToAnthropic> => requestToAnthropic({ ...rich, ...known }, { origin, ...context });

describe("a request to the Messages API", () => {
  it("has exactly this body and these headers", async () => {
    const { fetch, bodies, urls, headers } = recordingFetch(messagesDialect);
    const caller = new AnthropicCaller({ apiKey: "some-key", fetch, headers: { "x-team": "weather" } });
    const outcome = await caller.call(rich, { idempotencyKey: "plan/1/2/1", cacheKey: "session-7" });
    expect(outcome).toMatchObject({ ok: true, turn: { origin } });
    expect(outcome).not.toHaveProperty("warnings");
    expect(urls).toEqual(["https://api.anthropic.com/v1/messages"]);
    expect(Object.fromEntries(headers[0] ?? [])).toMatchObject({
      authorization: "Bearer some-key",
      "anthropic-version": "2026-10-21",
      "idempotency-key": "plan/1/2/1",
      "x-team": "weather",
    });
    expect(bodies[0]).toEqual({
      model: "some-model",
      max_tokens: 500,
      system: [{ type: "text", text: "You are a clerk.", cache_control: { type: "ephemeral" } }],
      tools: [
        {
          name: "weather",
          description: "The weather in a city now.",
          input_schema: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
          },
        },
        {
          name: expect.stringMatching(/_files_search$/),
          input_schema: {
            type: "object",
            properties: { query: { type: "string" }, limit: { type: "integer" } },
            required: ["query"],
          },
        },
      ],
      tool_choice: { type: "auto" },
      messages: [
        { role: "user", content: [{ type: "text", text: "What is the weather in Oslo, and in Turin?" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Two cities.", signature: "sig" },
            { type: "text", text: "Let me look." },
            { type: "tool_use", id: "1", name: "weather", input: { city: "Oslo" } },
            { type: "tool_use", id: "2", name: "weather", input: {} },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: '{"celsius":3}' },
            { type: "tool_result", tool_use_id: "2", content: "the arguments are not JSON", is_error: true },
            { type: "text", text: "<note>\nTwo steps are left.\n</note>" },
            { type: "text", text: "And here?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          ],
        },
      ],
      cache_control: { type: "ephemeral" },
      thinking: { type: "adaptive", display: "summarized" },
      output_config: {
        effort: "low",
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { celsius: { type: "number", description: "(minimum: -90)" } },
            required: ["celsius"],
            additionalProperties: false,
          },
        },
      },
      stream: true,
    });
  });

  it("has the default output limit if the request sets none", () => {
    expect(made({ settings: {} }).body.max_tokens).toBe(16_384);
    expect(made({ settings: {} }, { maxOutputTokens: 99 }).body.max_tokens).toBe(99);
  });

  it.each<[LlmRequest["toolChoice"], boolean, object]>([
    ["auto", false, { type: "auto", disable_parallel_tool_use: true }],
    ["required", true, { type: "any" }],
    ["none", false, { type: "none" }],
    [{ name: "weather" }, false, { type: "tool", name: "weather", disable_parallel_tool_use: true }],
  ])("has the tool choice of the request: %j, parallel: %j", (toolChoice, parallelToolCalls, expected) => {
    expect(made({ toolChoice, parallelToolCalls }).body.tool_choice).toEqual(expected);
  });

  it("has no tool fields without tools", () => {
    const { body } = made({ tools: [], toolChoice: "required" });
    expect(body).not.toHaveProperty("tools");
    expect(body).not.toHaveProperty("tool_choice");
  });

  it.each<[LlmRequest["settings"], string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ reasoningEffort: "none" }, "disabled", undefined],
    [{ reasoningEffort: "minimal" }, "adaptive", "low"],
    [{ reasoningEffort: "high" }, "adaptive", "high"],
    [{ reasoningEffort: "max" }, "adaptive", "max"],
  ])("has the reasoning effort of the request: %j", (settings, thinking, effort) => {
    const { body } = made({ settings });
    expect([body.thinking?.type, body.output_config?.effort]).toEqual([thinking, effort]);
  });

  it("disables thinking with a warning if a tool is forced", () => {
    const { body, warnings } = made({ toolChoice: "required", settings: { reasoningEffort: "high" } });
    expect(body.thinking).toEqual({ type: "disabled" });
    expect(warnings).toEqual(["thinking is off: the Messages API does not allow it when a tool is forced"]);
  });

  it("leaves out unsupported settings, with a warning each", () => {
    const settings = { temperature: 0, topP: 1, seed: 1, confidence: true, stop: ["x", " "] };
    const { body, warnings } = made({ settings, answerSchema: { type: "array" } });
    expect(warnings).toEqual([
      "answerSchema is part of the system text and not enforced: the Messages API does not support it here",
      "temperature was left out: the Messages API does not support it",
      "topP was left out: the Messages API does not support it",
      "seed was left out: the Messages API does not support it",
      "confidence was left out: the Messages API does not support it",
    ]);
    expect(body.stop_sequences).toEqual(["x"]);
    expect(body).not.toHaveProperty("temperature");
    expect(body).not.toHaveProperty("output_config");
  });

  it("has the provider's fields unchanged, but is always streamed", () => {
    const settings = {
      providerOptions: { anthropic: { service_tier: "auto", stream: false }, openai: { store: true } },
    };
    expect(made({ settings }).body).toMatchObject({ service_tier: "auto", stream: true });
    expect(made({ settings }).body).not.toHaveProperty("store");
  });

  it("keeps what the request makes, whatever the provider's fields are", () => {
    const options = { model: "other", max_tokens: 9_999, system: "x", tool_choice: { type: "none" } };
    const settings = { maxOutputTokens: 50, providerOptions: { anthropic: options } };
    expect(made({ settings }).body).toEqual(made({ settings: { maxOutputTokens: 50 } }).body);
  });

  it("has files that the API accepts, and text for the others", () => {
    const files = [
      { mediaType: "image/webp", url: "https://files.test/a.webp" },
      { mediaType: "application/pdf", name: "b.pdf", data: "JVBERi0=" },
      { mediaType: "application/pdf", url: "https://files.test/b.pdf" },
      { mediaType: "text/csv", name: "c.csv", data: "YSxi" },
      { mediaType: "image/bmp", name: "d.bmp", data: "AAAA" },
    ];
    const content = files.map((file) => ({ type: "file", file }) as const);
    const { body, warnings } = made({ messages: [{ role: "user", content }] });
    expect(body.messages[0]?.content).toEqual([
      { type: "image", source: { type: "url", url: "https://files.test/a.webp" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
        title: "b.pdf",
      },
      { type: "document", source: { type: "url", url: "https://files.test/b.pdf" } },
      { type: "text", text: "File c.csv:\na,b" },
      { type: "text", text: "(File not shown: d.bmp (image/bmp).)" },
    ]);
    expect(warnings).toEqual(["d.bmp (image/bmp) was left out: this API does not support it"]);
  });

  it("has the files of a result, but text only in a failed one", () => {
    const file = { mediaType: "image/png", data: "iVBORw0KGgo=" };
    const messages = rich.messages
      .slice(0, 2)
      .map((message) =>
        message.role === "assistant"
          ? { ...message, results: message.results.map((result) => ({ ...result, files: [file] })) }
          : message,
      );
    expect(made({ messages }).body.messages.at(-1)?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "1",
        content: [
          { type: "text", text: '{"celsius":3}' },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
        ],
      },
      {
        type: "tool_result",
        tool_use_id: "2",
        content: "the arguments are not JSON\n(File not shown: image/png.)",
        is_error: true,
      },
    ]);
  });

  it("has no half of a call that the API has run", () => {
    const use = (id: string): LlmPart => ({
      type: "opaque",
      raw: { type: "server_tool_use", id, name: "web_search", input: {} },
    });
    const result = (id: string): LlmPart => ({
      type: "opaque",
      raw: { type: "web_search_tool_result", tool_use_id: id, content: [] },
    });
    const said: LlmPart = { type: "text", text: "So." };
    const user: LlmMessage = { role: "user", content: [{ type: "text", text: "And then?" }] };
    const turn = (...parts: readonly LlmPart[]): LlmMessage => ({
      role: "assistant",
      turn: { origin, parts },
      results: [],
    });
    const { body } = made({
      messages: [user, turn(use("1"), result("1"), said), user, turn(result("2"), said, use("3")), user],
    });
    const kinds = body.messages.map(({ content }) =>
      typeof content === "string" ? content : content.map(({ type }) => type),
    );
    expect(kinds).toEqual([
      ["text"],
      ["server_tool_use", "web_search_tool_result", "text"],
      ["text"],
      ["text"],
      ["text"],
    ]);
  });

  it("has no thinking without a signature", () => {
    const unsigned = exampleRequest(origin, { text: "Two cities.", raw: {} });
    const content = requestToAnthropic(unsigned, { origin }).body.messages[1]?.content;
    expect(Array.isArray(content) && content[0]?.type).toBe("text");
  });
});

const breakpoints = (body: object): number => JSON.stringify(body).split('"cache_control"').length - 1;

describe("the cached prefix", () => {
  it("includes the whole request, with breakpoints after the tools and the system text", () => {
    expect(made({}, { cache: "1h" }).body).toMatchObject({
      system: [{ cache_control: { type: "ephemeral", ttl: "1h" } }],
      cache_control: { type: "ephemeral", ttl: "1h" },
    });
    const { tools } = made({ system: "" }).body;
    expect(tools?.map((tool) => "cache_control" in tool)).toEqual([false, true]);
    expect(breakpoints(made({}, { cache: "off" }).body)).toBe(0);
  });

  it("needs no breakpoints in messages, so that their bytes do not change", () => {
    expect(breakpoints(made({}).body.messages)).toBe(0);
  });

  it("has a breakpoint at the end of the previous request if the turn after it is too long", () => {
    const calls = Array.from({ length: 12 }, (_, index) => ({
      type: "tool-call" as const,
      id: `${index}`,
      name: "weather",
      arguments: "{}",
    }));
    const long: LlmMessage = {
      role: "assistant",
      turn: { origin, parts: calls },
      results: calls.map(() => ({ isError: false, content: "ok" })),
    };
    const { messages } = made({ messages: [...rich.messages, long] }).body;
    expect(messages.map((message) => breakpoints(message))).toEqual([0, 0, 1, 0, 0]);
    expect(messages[2]?.content.at(-1)).toMatchObject({
      type: "image",
      cache_control: { type: "ephemeral" },
    });
  });
});

it("tools that the provider runs are sent before those of the agent, which end the cached prefix", () => {
  const search = { type: "web_search_20260209", name: "web_search" };
  const tools = rich.tools.slice(0, 1);
  const settings = { providerTools: { anthropic: [search] } };
  expect(made({ settings, tools }).body.tools).toMatchObject([
    search,
    ...tools.map(({ name }) => ({ name })),
  ]);
  expect(made({ settings, tools: [], toolChoice: "auto" }).body.tools).toEqual([search]);
  expect(made({ settings, tools: [], purpose: "reflect" }).body).not.toHaveProperty("tools");
  expect(made({ settings }).warnings).toEqual([]);
});
