import { recordingFetch } from "@moora/llm/testing";
import { outputOfScript } from "@moora/testbed/llm/call-endings";
import { afterEach, describe, expect, it, vi } from "vitest";
import { chatProfiles, openai, OpenAiCaller, openaiChat, OpenAiChatCaller } from "../src/index.ts";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { responsesDialect } from "@moora/testbed/openai/responses-dialect";
import { requestOf } from "@moora/testbed/request-of";

afterEach(() => void vi.unstubAllEnvs());

const request = requestOf();

describe("a caller", () => {
  it("has the name of its provider options", () => {
    const names = [openai("m"), openaiChat("m"), openaiChat("m", { profile: chatProfiles.groq })];
    expect(names.map(({ name }) => name)).toEqual(["openai", "openai-chat", "groq"]);
  });

  it("can be created without a key, and fails when it is called", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    vi.stubEnv("GROQ_API_KEY", "");
    expect(await openai("m").call(request)).toMatchObject({
      failure: { kind: "auth", message: "openai: missing API key. Set OPENAI_API_KEY, or pass apiKey." },
    });
    expect(await openaiChat("m", { profile: chatProfiles.groq }).call(request)).toMatchObject({
      failure: { kind: "auth", message: "groq: missing API key. Set GROQ_API_KEY, or pass apiKey." },
    });
  });

  it("reads key and base URL from the environment, and uses them for their own provider only", async () => {
    vi.stubEnv("OPENAI_API_KEY", "from-env");
    vi.stubEnv("OPENAI_BASE_URL", "https://proxy.test/v1");
    vi.stubEnv("OPENAI_ORG_ID", "org-canary");
    vi.stubEnv("OPENAI_PROJECT_ID", "project-canary");
    vi.stubEnv("MISTRAL_API_KEY", "mistral-key");
    const responses = recordingFetch(responsesDialect);
    await openai("m", { fetch: responses.fetch }).call(request);
    const chat = recordingFetch(chatDialect());
    await openaiChat("m", { fetch: chat.fetch }).call(request);
    await openaiChat("m", { fetch: chat.fetch, profile: chatProfiles.mistral }).call(request);
    expect([...responses.urls, ...chat.urls]).toEqual([
      "https://proxy.test/v1/responses",
      "https://proxy.test/v1/chat/completions",
      "https://api.mistral.ai/v1/chat/completions",
    ]);
    const keys = [...responses.headers, ...chat.headers].map((headers) => headers.get("authorization"));
    expect(keys).toEqual(["Bearer from-env", "Bearer from-env", "Bearer mistral-key"]);
    expect(
      JSON.stringify([...responses.headers, ...chat.headers].map((headers) => [...headers])),
    ).not.toContain("canary");
  });

  it("has the model that it is configured with", () => {
    const configured = [openai("m"), openaiChat("m"), new OpenAiCaller({ model: "m" })];
    expect(configured.map(({ model }) => model)).toEqual(["m", "m", "m"]);
    expect([new OpenAiCaller().model, new OpenAiChatCaller().model]).toEqual([undefined, undefined]);
  });

  it.each(["nowhere", "localhost:11434/v1"])("fails if its base URL is %s", async (baseURL) => {
    const caller = new OpenAiCaller({ apiKey: "some-key", baseURL, model: "m" });
    expect(await caller.call(request)).toMatchObject({
      failure: {
        kind: "invalid-request",
        retryable: false,
        message: `openai: baseURL must be an absolute URL with http:// or https://, got "${baseURL}".`,
      },
    });
  });

  it("warns of an unknown setting", async () => {
    const { fetch } = recordingFetch(responsesDialect);
    // An application without types may misspell a setting.
    const settings = JSON.parse('{"temprature":0}');
    expect(await openai("m", { apiKey: "some-key", fetch }).call({ ...request, settings })).toMatchObject({
      warnings: ["settings.temprature was left out: unknown setting"],
    });
  });

  it("sends the request once more without reasoning if the model does not support encryption", async () => {
    const { fetch, bodies } = recordingFetch(responsesDialect);
    const message = "Encrypted content is not supported with this model.";
    const refusing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return bodies.at(-1)?.["include"] === undefined
        ? response
        : Response.json(
            { error: { message, type: "invalid_request_error", param: "include", code: null } },
            { status: 400 },
          );
    };
    const outcome = await openai("m", { apiKey: "some-key", fetch: refusing }).call(request);
    expect(outcome).toMatchObject({ ok: true, warnings: [expect.stringContaining(message)] });
    expect(bodies).toHaveLength(2);
  });
});

describe("a call", () => {
  it("leaves no timer and no socket open, in whichever way it ends", () =>
    expect(outputOfScript(`${import.meta.dirname}/support/every-ending.ts`)).resolves.toBe("done"));
});
