import type { LlmRequest } from "@moora/llm";
import { recordingFetch } from "@moora/llm/testing";
import { exampleRequest } from "@moora/testbed/llm/example-request";
import { describe, expect, it } from "vitest";
import { OpenAiCaller } from "../src/index.ts";
import { requestToOpenAi } from "../src/wire.ts";
import { responsesDialect } from "@moora/testbed/openai/responses-dialect";

const origin = "openai/responses/api.openai.com/some-model";
const rich = exampleRequest(origin, {
  text: "Two cities.\n\nOne tool.",
  raw: { id: "rs_7", encrypted_content: "gAAA", summary: [11, 9] },
});

const body = (known: Partial<LlmRequest>): object => requestToOpenAi({ ...rich, ...known }, { origin }).body;
const warnings = (known: Partial<LlmRequest>): readonly string[] =>
  requestToOpenAi({ ...rich, ...known }, { origin }).warnings;

describe("a request to the Responses API", () => {
  it("has exactly this body and these headers", async () => {
    const { fetch, bodies, urls, headers } = recordingFetch(responsesDialect);
    const caller = new OpenAiCaller({ apiKey: "some-key", fetch, headers: { "x-team": "weather" } });
    const outcome = await caller.call(rich, { idempotencyKey: "plan/1/2/1", cacheKey: "session-7" });
    expect(outcome).toMatchObject({ ok: true, turn: { origin } });
    expect(outcome).not.toHaveProperty("warnings");
    expect(urls).toEqual(["https://api.openai.com/v1/responses"]);
    expect(Object.fromEntries(headers[0] ?? [])).toMatchObject({
      authorization: "Bearer some-key",
      "content-type": "application/json",
      "idempotency-key": "plan/1/2/1",
      "x-team": "weather",
      "x-stainless-retry-count": "0",
    });
    expect(bodies[0]).toEqual({
      model: "some-model",
      instructions: "You are a clerk.",
      max_output_tokens: 500,
      reasoning: { effort: "low" },
      prompt_cache_key: "session-7",
      tools: [
        {
          type: "function",
          name: "weather",
          description: "The weather in a city now.",
          parameters: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
            additionalProperties: false,
          },
          strict: true,
        },
        {
          type: "function",
          name: expect.stringMatching(/^x0[A-Za-z0-9]{10}_files_search$/),
          parameters: {
            type: "object",
            properties: { query: { type: "string" }, limit: { type: "integer" } },
            required: ["query"],
          },
          strict: false,
        },
      ],
      tool_choice: "auto",
      parallel_tool_calls: true,
      text: {
        format: {
          type: "json_schema",
          name: "answer",
          schema: {
            type: "object",
            properties: { celsius: { type: "number", minimum: -90 } },
            required: ["celsius"],
            additionalProperties: false,
          },
          strict: true,
        },
      },
      include: ["reasoning.encrypted_content"],
      input: [
        {
          type: "message",
          role: "user",
          content: [{ type: "input_text", text: "What is the weather in Oslo, and in Turin?" }],
        },
        {
          type: "reasoning",
          id: "rs_7",
          encrypted_content: "gAAA",
          summary: [
            { type: "summary_text", text: "Two cities." },
            { type: "summary_text", text: "One tool." },
          ],
        },
        { type: "message", role: "assistant", content: "Let me look." },
        { type: "function_call", call_id: "1", name: "weather", arguments: '{"city": "Oslo"}' },
        { type: "function_call", call_id: "2", name: "weather", arguments: "{}" },
        { type: "function_call_output", call_id: "1", output: '{"celsius":3}' },
        { type: "function_call_output", call_id: "2", output: "Error: the arguments are not JSON" },
        {
          type: "message",
          role: "developer",
          content: [{ type: "input_text", text: "Two steps are left." }],
        },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "And here?" },
            { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
          ],
        },
      ],
      store: false,
      stream: true,
    });
  });

  it("has the name on the wire of a tool that must be called", () => {
    const { tools, tool_choice: choice } = requestToOpenAi(
      { ...rich, toolChoice: { name: "files/search" } },
      { origin },
    ).body;
    expect(choice).toEqual({ type: "function", name: tools?.[1]?.type === "function" ? tools[1].name : "" });
  });

  it("includes log-probabilities if confidence is requested", () => {
    expect(body({ settings: { confidence: true } })).toMatchObject({
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    });
  });

  it("has the provider's fields unchanged, but is always streamed", () => {
    const settings = {
      temperature: 0.5,
      providerOptions: { openai: { service_tier: "flex", stream: false }, anthropic: { speed: "fast" } },
    };
    const made = body({ settings });
    expect(made).toMatchObject({ service_tier: "flex", stream: true, temperature: 0.5 });
    expect(made).not.toHaveProperty("speed");
  });

  it("keeps what the request makes, whatever the provider's fields are", () => {
    const settings = {
      maxOutputTokens: 50,
      providerOptions: {
        openai: { model: "other", max_output_tokens: 9_999, tool_choice: "none", text: { verbosity: "low" } },
      },
    };
    const made = body({ settings, answerSchema: { type: "object", properties: {} } });
    expect(made).toMatchObject({ model: "some-model", max_output_tokens: 50, tool_choice: "auto" });
    expect(made).toMatchObject({ text: { verbosity: "low", format: { type: "json_schema" } } });
    expect(warnings({ settings })).toEqual(
      ["model", "max_output_tokens", "tool_choice"].map(
        (field) => `providerOptions: ${field} was left out: the request makes it`,
      ),
    );
  });

  it("leaves out unsupported settings, with a warning each", () => {
    expect(warnings({ settings: { seed: 1, stop: ["x"] }, answerSchema: { type: "array" } })).toEqual([
      "answerSchema is part of the system text and not enforced: the Responses API does not support it here",
      "seed was left out: the Responses API does not support it",
      "stop was left out: the Responses API does not support it",
    ]);
  });

  it("has a format that is not strict if the schema cannot be enforced", () => {
    const schema = {
      type: "object",
      properties: { note: { type: "string", minLength: 1 } },
    };
    expect(body({ answerSchema: schema })).toMatchObject({ text: { format: { schema, strict: false } } });
  });

  it("has no tool fields without tools", () => {
    const made = body({ tools: [] });
    for (const field of ["tools", "tool_choice", "parallel_tool_calls"])
      expect(made).not.toHaveProperty(field);
  });

  it("has files that the API accepts, and text for the others", () => {
    const files = [
      { mediaType: "application/pdf", name: "a.pdf", data: "JVBERi0=" },
      { mediaType: "application/pdf", url: "https://files.test/b.pdf" },
      { mediaType: "text/plain", name: "c.txt", data: "aGVsbG8=" },
      { mediaType: "video/mp4", name: "d.mp4", url: "https://files.test/d.mp4" },
    ];
    const content = files.map((file) => ({ type: "file", file }) as const);
    const made = requestToOpenAi({ ...rich, messages: [{ role: "user", content }] }, { origin });
    expect(made.body.input).toEqual([
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
          { type: "input_file", file_url: "https://files.test/b.pdf" },
          { type: "input_text", text: "File c.txt:\nhello" },
          {
            type: "input_text",
            text: "(File not shown: d.mp4 (video/mp4) at https://files.test/d.mp4.)",
          },
        ],
      },
    ]);
    expect(made.warnings).toEqual(["d.mp4 (video/mp4) was left out: this API does not support it"]);
  });

  it("has the files of a result after its text", () => {
    const [question, turn] = rich.messages;
    if (question === undefined || turn?.role !== "assistant") throw new Error("the rich request has changed");
    const file = { mediaType: "image/png", data: "iVBORw0KGgo=" };
    const results = turn.results.map((result) => ({ ...result, files: [file] }));
    const { input } = requestToOpenAi(
      { ...rich, messages: [question, { ...turn, results }] },
      { origin },
    ).body;
    expect(input?.at(-1)).toEqual({
      type: "function_call_output",
      call_id: "2",
      output: [
        { type: "input_text", text: "Error: the arguments are not JSON" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
      ],
    });
  });
});

describe("tools that the provider runs", () => {
  const search = { type: "web_search" };
  const tools = rich.tools.slice(0, 1);
  const settings = { providerTools: { openai: [search], anthropic: [{ type: "other" }] } };

  it("are sent beside those of the agent", () => {
    expect(body({ settings, tools })).toMatchObject({
      tools: [...tools.map(({ name }) => ({ type: "function", name })), search],
    });
    expect(body({ settings, tools: [] })).toMatchObject({ tools: [search], tool_choice: "auto" });
    expect(warnings({ settings })).toEqual([]);
  });

  it("are not sent for a summary", () => {
    expect(body({ settings, tools: [], purpose: "reflect" })).not.toHaveProperty("tools");
  });
});
