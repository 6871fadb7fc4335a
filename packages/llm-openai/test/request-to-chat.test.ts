import type { JsonObject, LlmRequest } from "@moora/llm";
import { answerInstruction, isJsonObject } from "@moora/llm/adapter";
import { recordingFetch } from "@moora/llm/testing";
import { exampleRequest } from "@moora/testbed/llm/example-request";
import { describe, expect, it } from "vitest";
import { chatProfiles, OpenAiChatCaller, type ChatProfileName } from "../src/index.ts";
import { requestToChat } from "../src/wire.ts";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { messagesIn } from "./support/messages-in.ts";

const origin = "openai-chat/chat/api.openai.com/some-model";
const rich = exampleRequest(origin, { text: "Two cities.", raw: {} });

const user = (text: string): LlmRequest["messages"][number] => ({
  role: "user",
  content: [{ type: "text", text }],
});

const bodyOf = (profile: ChatProfileName, known: Partial<LlmRequest> = {}): Record<string, never> =>
  JSON.parse(JSON.stringify(requestToChat({ ...rich, ...known }, { origin }, chatProfiles[profile]).body));
const warningsOf = (profile: ChatProfileName, known: Partial<LlmRequest>): readonly string[] =>
  requestToChat({ ...rich, ...known }, { origin }, chatProfiles[profile]).warnings;

const hasFormat = (profile: ChatProfileName, tools: LlmRequest["tools"]): boolean =>
  "response_format" in bodyOf(profile, { tools });

describe("a request to Chat Completions", () => {
  it("has exactly this body for OpenAI", async () => {
    const { fetch, bodies, urls, headers } = recordingFetch(chatDialect());
    const caller = new OpenAiChatCaller({ apiKey: "some-key", fetch });
    const outcome = await caller.call(rich, { idempotencyKey: "plan/1/2/1", cacheKey: "session-7" });
    expect(outcome).toMatchObject({ ok: true, turn: { origin } });
    expect(urls).toEqual(["https://api.openai.com/v1/chat/completions"]);
    expect(headers[0]?.get("authorization")).toBe("Bearer some-key");
    expect(headers[0]?.get("idempotency-key")).toBe("plan/1/2/1");
    expect(bodies[0]).toEqual({
      model: "some-model",
      messages: [
        { role: "developer", content: "You are a clerk." },
        { role: "user", content: "What is the weather in Oslo, and in Turin?" },
        {
          role: "assistant",
          content: "Let me look.",
          tool_calls: [
            { id: "1", type: "function", function: { name: "weather", arguments: '{"city": "Oslo"}' } },
            { id: "2", type: "function", function: { name: "weather", arguments: "{}" } },
          ],
        },
        { role: "tool", tool_call_id: "1", content: '{"celsius":3}' },
        { role: "tool", tool_call_id: "2", content: "Error: the arguments are not JSON" },
        { role: "developer", content: "Two steps are left." },
        {
          role: "user",
          content: [
            { type: "text", text: "And here?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          ],
        },
      ],
      tools: [
        {
          type: "function",
          function: {
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
        },
        {
          type: "function",
          function: {
            name: expect.stringMatching(/_files_search$/),
            parameters: {
              type: "object",
              properties: { query: { type: "string" }, limit: { type: "integer" } },
              required: ["query"],
            },
            strict: false,
          },
        },
      ],
      tool_choice: "auto",
      parallel_tool_calls: true,
      response_format: {
        type: "json_schema",
        json_schema: {
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
      max_completion_tokens: 500,
      reasoning_effort: "low",
      prompt_cache_key: "session-7",
      stream_options: { include_usage: true },
      stream: true,
    });
  });

  it("has alternating roles and valid ids if the server requires them", () => {
    const system = {
      role: "system",
      content: expect.stringMatching(/^You are a clerk\.\n\nYour final answer/),
    };
    expect(bodyOf("mistral")["messages"]).toEqual([
      system,
      { role: "user", content: "What is the weather in Oslo, and in Turin?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [
          {
            id: expect.stringMatching(/^[A-Za-z0-9]{9}$/),
            type: "function",
            function: { name: "weather", arguments: '{"city": "Oslo"}' },
          },
          {
            id: expect.stringMatching(/^[A-Za-z0-9]{9}$/),
            type: "function",
            function: { name: "weather", arguments: "{}" },
          },
        ],
      },
      { role: "tool", tool_call_id: expect.any(String), content: '{"celsius":3}' },
      { role: "tool", tool_call_id: expect.any(String), content: "Error: the arguments are not JSON" },
      { role: "assistant", content: "I have the results." },
      {
        role: "user",
        content: [
          { type: "text", text: "Two steps are left." },
          { type: "text", text: "And here?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
        ],
      },
    ]);
    expect(bodyOf("mistral", { messages: [user("a"), user("b")] })["messages"]).toEqual([
      system,
      { role: "user", content: "a\n\nb" },
    ]);
  });

  it("has the server's names of fields, and leaves out unsupported ones, with a warning", () => {
    const settings = { seed: 7, maxOutputTokens: 5, confidence: true };
    const mistral = bodyOf("mistral", { settings });
    expect(mistral).toMatchObject({ random_seed: 7, max_tokens: 5 });
    for (const field of ["seed", "logprobs", "stream_options", "prompt_cache_key", "max_completion_tokens"])
      expect(mistral).not.toHaveProperty(field);

    expect(warningsOf("mistral", { settings })).toContain(
      "logprobs was left out: mistral does not support it",
    );
    expect(bodyOf("vllm", { settings })).toMatchObject({ seed: 7, logprobs: true });
  });

  it("has reasoning only if the server expects it, and only its own", () => {
    const own = messagesIn(bodyOf("deepseek"))[2];
    expect(own).toMatchObject({ role: "assistant", reasoning_content: "Two cities." });
    expect(messagesIn(bodyOf("groq"))[2]).not.toHaveProperty("reasoning_content");
    const foreign = requestToChat(rich, { origin: "elsewhere" }, chatProfiles.deepseek).body;
    expect(foreign.messages[2]).toMatchObject({ role: "assistant", reasoning_content: "" });
  });

  it("has the details of reasoning that its origin has sent, on any server", () => {
    const details = [{ type: "reasoning.encrypted", data: "abc" }];
    const turn = (from: string): Partial<LlmRequest> => ({
      messages: [
        {
          role: "assistant",
          turn: {
            origin: from,
            parts: [
              { type: "reasoning", text: "", raw: details },
              { type: "text", text: "Two." },
            ],
          },
          results: [],
        },
        { role: "user", content: [{ type: "text", text: "Three." }] },
      ],
    });
    const turnIn = (known: Partial<LlmRequest>): unknown =>
      messagesIn(bodyOf("openrouter", known)).find(
        (message) => isJsonObject(message) && message["role"] === "assistant",
      );
    expect(turnIn(turn(origin))).toMatchObject({ reasoning_details: details });
    expect(turnIn(turn("elsewhere"))).not.toHaveProperty("reasoning_details");
  });

  it("has an empty field in each turn without reasoning if the server wants it in each turn", () => {
    const turns = messagesIn(
      bodyOf("deepseek", {
        messages: [
          { role: "user", content: [{ type: "text", text: "One." }] },
          {
            role: "assistant",
            turn: { origin: "", parts: [{ type: "text", text: "Half an ans" }] },
            results: [],
          },
          { role: "note", text: "The task was canceled here." },
          { role: "assistant", turn: { origin: "", parts: [{ type: "text", text: "Two." }] }, results: [] },
          { role: "user", content: [{ type: "text", text: "Three." }] },
        ],
      }),
    ).filter((message) => isJsonObject(message) && message["role"] === "assistant");
    expect(turns).toHaveLength(2);
    for (const turn of turns) expect(turn).toMatchObject({ reasoning_content: "" });
  });

  it("repeats the tool loop of Kimi with reasoning_content, its own ids, valid names, and schemas that are not strict", () => {
    const parts = [
      { type: "reasoning", text: "Two cities.", raw: "reasoning_content" },
      { type: "tool-call", id: "functions.weather:0", name: "weather", arguments: "{}" },
    ] as const;
    const turns = [
      { origin, parts },
      { origin: "elsewhere", parts: parts.slice(1) },
    ] as const;
    const results = [{ isError: false, content: "3" }];
    const messages = turns.map((turn) => ({ role: "assistant", turn, results }) as const);
    const body = bodyOf("moonshot", {
      messages: [user("a"), ...messages, user("b")],
      tools: ["weather", "ls"].map((name) => ({ name, description: "", schema: { type: "object" } })),
    });
    const calls = [{ id: "functions.weather:0" }];
    expect(messagesIn(body)).toMatchObject([
      { role: "system" },
      { role: "user", content: "a" },
      { role: "assistant", content: null, reasoning_content: "Two cities.", tool_calls: calls },
      { role: "tool", tool_call_id: "functions.weather:0" },
      { role: "assistant", content: null, reasoning_content: "", tool_calls: [expect.anything()] },
      { role: "tool" },
      { role: "user", content: "b" },
    ]);
    expect(body["tools"]).toMatchObject([
      { function: { name: "weather", strict: false } },
      { function: { name: expect.stringMatching(/^[A-Za-z_][\w-]{2,63}$/), strict: false } },
    ]);
    expect(body).toMatchObject({ max_completion_tokens: 500 });
    expect(body).not.toHaveProperty("parallel_tool_calls");
  });

  const celsius = (type: string): JsonObject => {
    const item = { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] };
    return type === "object" ? item : { type, items: item };
  };
  const answers = ["object", "array"].flatMap((type) => [
    { type, tools: rich.tools, known: { tools: rich.tools, answerSchema: celsius(type) } },
    { type, tools: [], known: { tools: [], answerSchema: celsius(type) } },
  ]);
  it.each(
    Object.values(chatProfiles).flatMap((profile) => answers.map((answer) => ({ ...answer, profile }))),
  )(
    "contains for $profile.name the schema of an answer of type $type with $tools.length tools, as a field or in the system text",
    ({ profile, known }) => {
      const { body, warnings } = requestToChat({ ...rich, ...known }, { origin }, profile);
      const instruction = answerInstruction(known.answerSchema);
      const isField = JSON.stringify(body.response_format ?? null).includes("celsius");
      expect(body.messages[0]).toMatchObject({
        content: isField ? "You are a clerk." : `You are a clerk.\n\n${instruction}`,
      });
      expect(warnings).toHaveLength(isField ? 0 : 1);
    },
  );

  it("has a system text for the schema of the answer if the request has none", () => {
    const made = bodyOf("groq", { system: " " });
    expect(messagesIn(made)[0]).toEqual({
      role: "system",
      content: answerInstruction(rich.answerSchema ?? {}),
    });
  });

  it("has a response format if the server supports it", () => {
    expect([
      hasFormat("openai", rich.tools),
      hasFormat("vllm", rich.tools),
      hasFormat("deepseek", rich.tools),
    ]).toEqual([true, false, false]);
    expect([hasFormat("vllm", []), hasFormat("deepseek", [])]).toEqual([true, false]);
    expect(warningsOf("deepseek", {})).toEqual([
      "answerSchema is part of the system text and not enforced: deepseek does not support it here",
    ]);
  });

  it("has the files of results in a user message after them", () => {
    const file = { mediaType: "image/png", data: "iVBORw0KGgo=" };
    const messages = rich.messages
      .slice(0, 2)
      .map((message) =>
        message.role === "assistant"
          ? { ...message, results: message.results.map((result) => ({ ...result, files: [file] })) }
          : message,
      );
    expect(messagesIn(bodyOf("openai", { messages })).slice(-2)).toEqual([
      { role: "tool", tool_call_id: "2", content: "Error: the arguments are not JSON" },
      {
        role: "user",
        content: [
          { type: "text", text: "Files of the results above:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
        ],
      },
    ]);
  });

  it("has a PDF file if the server accepts it, otherwise a text", () => {
    const file = { mediaType: "application/pdf", name: "a.pdf", data: "JVBERi0=" };
    const messages: LlmRequest["messages"] = [{ role: "user", content: [{ type: "file", file }] }];
    expect(messagesIn(bodyOf("openai", { messages })).at(-1)).toEqual({
      role: "user",
      content: [
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
      ],
    });
    expect(messagesIn(bodyOf("groq", { messages })).at(-1)).toEqual({
      role: "user",
      content: "(File not shown: a.pdf (application/pdf).)",
    });
  });

  it("has the provider options of its profile", () => {
    const settings = {
      providerOptions: { openrouter: { provider: { sort: "price" } }, openai: { store: true } },
    };
    expect(bodyOf("openrouter", { settings })).toMatchObject({ provider: { sort: "price" }, stream: true });
    expect(bodyOf("openrouter", { settings })).not.toHaveProperty("store");
  });

  it("keeps what the request makes, whatever the provider options are", () => {
    const local = { max_tokens: 9_999, stream_options: { include_usage: false }, n: 5, messages: [] };
    const settings = { maxOutputTokens: 50, providerOptions: { local } };
    expect(bodyOf("local", { settings })).toEqual(bodyOf("local", { settings: { maxOutputTokens: 50 } }));
  });
});

describe("a server on this machine", () => {
  it("gets no key, and no header that needs a CORS preflight", async () => {
    const { fetch, headers, urls } = recordingFetch(
      chatDialect({ knownParameters: ["max_tokens", "stream_options"] }),
    );
    const caller = new OpenAiChatCaller({ profile: chatProfiles.ollama, model: "qwen3", fetch });
    const outcome = await caller.call(
      { ...rich, model: "", tools: [], settings: {} },
      { idempotencyKey: "k" },
    );
    expect(outcome).toMatchObject({ ok: true, turn: { origin: "ollama/chat/localhost:11434/qwen3" } });
    expect(urls).toEqual(["http://localhost:11434/v1/chat/completions"]);
    expect(headers[0]?.has("authorization")).toBe(false);
    expect(headers[0]?.has("idempotency-key")).toBe(false);
  });
});

it("tools that the server runs are sent beside those of the agent, by the name of the profile", () => {
  const search = { type: "browser_search" };
  const tools = rich.tools.slice(0, 1);
  const settings = { providerTools: { groq: [search] } };
  expect(bodyOf("groq", { settings, tools })).toMatchObject({
    tools: [...tools.map(({ name }) => ({ type: "function", function: { name } })), search],
  });
  expect(bodyOf("groq", { settings, tools: [], toolChoice: "auto" })).toMatchObject({ tools: [search] });
  expect(bodyOf("groq", { settings, tools: [], purpose: "reflect" })).not.toHaveProperty("tools");
  expect(JSON.stringify(bodyOf("openai", { settings }))).not.toContain("browser_search");
});
