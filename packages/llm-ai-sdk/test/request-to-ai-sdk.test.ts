import type { LlmRequest, LlmTurn } from "@moora/llm";
import { requestOf } from "@moora/testbed/request-of";
import { describe, expect, it } from "vitest";
import { requestToAiSdk } from "../src/wire.ts";

const convert = (overrides: Partial<LlmRequest>, context: object = {}) =>
  requestToAiSdk(requestOf(overrides), { origin: "o", provider: "acme.chat", ...context });

const add = { name: "add", description: "Adds.", schema: { type: "object", properties: {} } } as const;
const sum: LlmTurn = {
  origin: "other",
  parts: [{ type: "tool-call", id: "1", name: "add", arguments: "{}" }],
};
const png = { mediaType: "image/png", name: "dot.png", data: "iVBORw0KGgo=" };

describe("settings", () => {
  it("have the names of the AI SDK", () => {
    const settings = {
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      seed: 7,
      stop: ["END", ""],
      reasoningEffort: "high",
    } as const;
    expect(convert({ settings }).body).toMatchObject({
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      seed: 7,
      stopSequences: ["END"],
      reasoning: "high",
    });
  });

  it("that the AI SDK does not have are left out with a warning", () => {
    expect(convert({ settings: { confidence: true } }).warnings).toEqual([
      "confidence was left out: this model of the AI SDK does not support it",
    ]);
    const single = convert({ tools: [add], parallelToolCalls: false });
    expect(single.warnings).toEqual([
      "parallelToolCalls: false was left out: this model of the AI SDK does not support it",
    ]);
  });

  it("become options of a known provider, which those of the caller and of the request replace", () => {
    const { body, warnings } = convert(
      {
        tools: [add],
        parallelToolCalls: false,
        settings: { providerOptions: { openai: { user: "me" }, other: { a: 1 } } },
      },
      {
        provider: "openai.responses",
        cacheKey: "session-7",
        providerOptions: { openai: { user: "you", b: 2 } },
      },
    );
    expect(body.providerOptions).toEqual({
      openai: { store: false, parallelToolCalls: false, promptCacheKey: "session-7", user: "me", b: 2 },
      other: { a: 1 },
    });
    expect(warnings).toEqual([]);
  });

  it("are not those that the request makes, neither of the caller nor of the request", () => {
    const { body } = convert(
      { settings: { providerOptions: { openai: { user: "me", maxCompletionTokens: 9_999 } } } },
      { provider: "openai.chat", providerOptions: { openai: { model: "other", instructions: "x" } } },
    );
    expect(body.providerOptions).toEqual({ openai: { user: "me" } });
  });
});

describe("the schema of the answer", () => {
  const answerSchema = {
    type: "object",
    properties: { n: { type: "number", minimum: 1 } },
    required: ["n"],
  };

  it("is enforced by the provider where it can be", () => {
    expect(convert({ answerSchema }).body.responseFormat).toMatchObject({ type: "json" });
    expect(convert({ answerSchema, tools: [add] }, { provider: "openai.chat" }).body).toHaveProperty(
      "responseFormat",
    );
  });

  it("is part of the system text with tools, and where no provider enforces it", () => {
    for (const overrides of [
      { answerSchema, tools: [add] },
      { answerSchema: { type: "array", items: answerSchema } },
    ]) {
      const { body, warnings } = convert(overrides);
      expect(body).not.toHaveProperty("responseFormat");
      expect(body.prompt[0]).toMatchObject({
        role: "system",
        content: expect.stringContaining('"minimum":1'),
      });
      expect(warnings).toHaveLength(1);
    }
  });
});

describe("files", () => {
  it("with data are sent where the provider accepts their type", () => {
    const { body } = convert({ messages: [{ role: "user", content: [{ type: "file", file: png }] }] });
    expect(body.prompt).toEqual([
      {
        role: "user",
        content: [
          {
            type: "file",
            mediaType: "image/png",
            filename: "dot.png",
            data: { type: "data", data: png.data },
          },
        ],
      },
    ]);
  });

  it.each([
    ["https://cdn.test/dot.png", true],
    ["https://other.test/dot.png", false],
    ["not a URL", false],
  ])("at the URL %s are sent if the provider reads it: %j", (url, isSent) => {
    const file = { mediaType: "image/png", name: "dot.png", url };
    const { body, warnings } = convert(
      { messages: [{ role: "user", content: [{ type: "file", file }] }] },
      { supportedUrls: { "image/*": [/^https:\/\/cdn\.test/] } },
    );
    expect(JSON.stringify(body.prompt).includes('"type":"file"')).toBe(isSent);
    expect(warnings).toHaveLength(isSent ? 0 : 1);
  });

  it.each(["google.generative-ai", "amazon-bedrock"])(
    "of a failed result are sent by URL to %s, as those of a message",
    (provider) => {
      const file = { mediaType: "image/png", url: "https://cdn.test/dot.png" };
      const fileOf = (isError: boolean) => {
        const results = [{ isError, content: "a picture", files: [file] }];
        const messages = [...requestOf().messages, { role: "assistant", turn: sum, results } as const];
        const supportedUrls = { "image/*": [/^https:/] };
        return JSON.stringify(convert({ messages, tools: [add] }, { provider, supportedUrls }).body.prompt);
      };
      expect(fileOf(true)).toContain('"type":"url"');
      expect(fileOf(false)).not.toContain('"type":"url"');
    },
  );

  it("of a result are in it where the provider accepts them, otherwise in the next user message", () => {
    const results = [{ isError: false, content: "a picture", files: [png] }];
    const messages = [...requestOf().messages, { role: "assistant", turn: sum, results } as const];
    const inside = convert({ messages }, { provider: "anthropic.messages" }).body.prompt;
    expect(inside.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(JSON.stringify(inside.at(-1))).toContain(png.data);
    const failed = [{ ...results[0], isError: true, content: "a picture" }];
    const failedTurn = { role: "assistant", turn: sum, results: failed } as const;
    const beside = convert(
      { messages: [...requestOf().messages, failedTurn] },
      { provider: "anthropic.messages" },
    ).body.prompt;
    expect(beside.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(JSON.stringify(beside.at(-1))).toContain(png.data);
    const after = convert({ messages }, { provider: "mistral.chat" }).body.prompt;
    expect(after.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(JSON.stringify(after.at(-1))).toContain(png.data);
  });
});

it("tools that the provider runs are sent beside those of the agent, as tools of the AI SDK", () => {
  const search = { id: "google.google_search", name: "google_search" };
  const settings = { providerTools: { google: [search] } };
  const bodyFor = (overrides: Partial<LlmRequest>) =>
    convert({ settings, ...overrides }, { provider: "google.generative-ai" }).body;
  const sent = { type: "provider", args: {}, ...search };
  expect(bodyFor({ tools: [add] }).tools).toMatchObject([{ type: "function", name: "add" }, sent]);
  expect(bodyFor({ tools: [] }).tools).toEqual([sent]);
  expect(bodyFor({ tools: [], purpose: "reflect" })).not.toHaveProperty("tools");
});

describe("calls and results in a request without tools", () => {
  const results = [{ isError: true, content: "a picture", files: [png] }];
  const messages = [...requestOf().messages, { role: "assistant", turn: sum, results } as const];
  const promptFor = (provider: string, overrides: Partial<LlmRequest>) =>
    JSON.stringify(convert({ messages, ...overrides }, { provider }).body.prompt);

  it.each([{ tools: [] }, { tools: [add], toolChoice: "none" as const }])(
    "are texts for Bedrock, which refuses them without tools, and whose package would drop them: %j",
    (overrides) => {
      const prompt = promptFor("amazon-bedrock", overrides);
      expect(prompt).not.toMatch(/"type":"tool-(call|result)"/);
      expect(prompt).toContain("(Called add with {})");
      expect(prompt).toContain("Error: a picture");
      expect(prompt).toContain(png.data);
    },
  );

  it("are calls and results for every other provider, and for Bedrock with tools", () => {
    for (const prompt of [promptFor("google", {}), promptFor("amazon-bedrock", { tools: [add] })])
      expect(prompt).toMatch(/"type":"tool-call".*"type":"tool-result"/);
  });
});
