import { createGoogle } from "@ai-sdk/google";
import { LlmOptionError } from "@moora/llm";
import { recordingFetch } from "@moora/llm/testing";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { requestOf } from "@moora/testbed/request-of";
import { afterEach, describe, expect, it, vi } from "vitest";
import { aiSdk, AiSdkCaller, type AiSdkFactory } from "../src/index.ts";

afterEach(() => void vi.unstubAllEnvs());

const gemini: AiSdkFactory = (connection) => createGoogle(connection)(connection.model);

/** A value as hosts without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value));

it.each<[string, unknown, string]>([
  ["a misspelled baseURL", { baseUrl: "http://127.0.0.1:1" }, 'of aiSdk. Did you mean "baseURL"?'],
  ["a key that is a number", { apiKey: 5 }, "apiKey of aiSdk must be a string, got a number."],
  ["options that are a text", { providerOptions: "x" }, "providerOptions of aiSdk must be an object"],
  [
    "options without the name of a provider",
    { providerOptions: { thinkingBudget: 5 } },
    "providerOptions of aiSdk must be an object of options by provider, such as { google: { ... } }, got an object.",
  ],
  [
    "a format of ids without a pattern",
    { callIdFormat: { length: 9 } },
    "callIdFormat.pattern of aiSdk is missing. It must be a regular expression.",
  ],
])("aiSdk refuses %s where it is given", (_, options, message) => {
  expect(() => aiSdk(gemini, untyped(options))).toThrow(LlmOptionError);
  expect(() => new AiSdkCaller(gemini, untyped(options))).toThrow(message);
});

it("aiSdk refuses a model of another specification, and a value without one", () => {
  expect(() => aiSdk(untyped({ specificationVersion: "v2" }))).toThrow(
    'aiSdk needs a model with specificationVersion "v4", got "v2".',
  );
  expect(() => aiSdk(untyped("gemini-3-pro"))).toThrow("aiSdk needs a language model of the AI SDK");
});

it("aiSdk refuses a model of another kind", () => {
  const embeddings: unknown = createGoogle({ apiKey: "some-key" }).embeddingModel("gemini-embedding-001");
  // A program in JavaScript passes any model.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  expect(() => aiSdk(embeddings as AiSdkFactory)).toThrow(
    new LlmOptionError(
      'aiSdk needs a language model, got "gemini-embedding-001", which is a model of another kind, such as for embeddings or images.',
    ),
  );
});

describe("a caller with a factory", () => {
  it("sends the request with the model, the key, the headers and the URL of its options", async () => {
    const { fetch, urls, headers } = recordingFetch(geminiDialect);
    const caller = aiSdk(gemini, {
      name: "google",
      model: "gemini-a",
      apiKey: "some-key",
      baseURL: "https://proxy.test/v1",
      headers: { "x-team": "blue" },
      fetch,
    });
    expect(caller).toMatchObject({ name: "google", model: "gemini-a" });
    expect(await caller.call(requestOf())).toMatchObject({
      ok: true,
      model: "gemini-a",
      turn: { origin: "google/ai-sdk:google.generative-ai/proxy.test/gemini-a" },
    });
    await caller.call(requestOf({ model: "gemini-b" }));
    expect(urls).toEqual([
      "https://proxy.test/v1/models/gemini-a:streamGenerateContent?alt=sse",
      "https://proxy.test/v1/models/gemini-b:streamGenerateContent?alt=sse",
    ]);
    expect(headers[0]?.get("x-goog-api-key")).toBe("some-key");
    expect(headers[0]?.get("x-team")).toBe("blue");
  });

  it("uses the URL and the key of the provider where it has none", async () => {
    vi.stubEnv("GOOGLE_GENERATIVE_AI_API_KEY", "from-env");
    const { fetch, urls, headers } = recordingFetch(geminiDialect);
    expect(await aiSdk(gemini, { model: "gemini-a", fetch }).call(requestOf())).toMatchObject({
      ok: true,
      turn: { origin: "ai-sdk/ai-sdk:google.generative-ai/gemini-a" },
    });
    expect(urls[0]).toMatch(/^https:\/\/generativelanguage\.googleapis\.com\//);
    expect(headers[0]?.get("x-goog-api-key")).toBe("from-env");
  });

  it("fails without a request where the provider finds no key", async () => {
    vi.stubEnv("GOOGLE_GENERATIVE_AI_API_KEY", undefined);
    const { fetch, urls } = recordingFetch(geminiDialect);
    expect(await aiSdk(gemini, { model: "gemini-a", fetch }).call(requestOf())).toMatchObject({
      failure: { kind: "auth", message: expect.stringContaining("GOOGLE_GENERATIVE_AI_API_KEY") },
    });
    expect(urls).toEqual([]);
  });

  it("fails with the error of a factory that throws", async () => {
    const caller = aiSdk(() => Promise.reject(new Error("npm install @ai-sdk/acme")), { model: "a" });
    expect(await caller.call(requestOf())).toMatchObject({
      failure: { kind: "invalid-request", message: "Invalid request: npm install @ai-sdk/acme" },
    });
  });

  it("fails without a model, and does not create one for a call that is aborted", async () => {
    let created = 0;
    const counting: AiSdkFactory = (connection) => ((created += 1), gemini(connection));
    expect(await aiSdk(counting).call(requestOf())).toMatchObject({
      failure: { kind: "invalid-request", message: expect.stringContaining("missing model") },
    });
    const aborted = { signal: AbortSignal.abort() };
    expect(await aiSdk(counting, { model: "a" }).call(requestOf(), aborted)).toMatchObject({
      failure: { kind: "aborted" },
    });
    expect(created).toBe(0);
  });
});
