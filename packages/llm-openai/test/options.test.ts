import { LlmOptionError } from "@moora/llm";
import { describe, expect, it } from "vitest";
import { chatProfiles, openai, OpenAiCaller, openaiChat, OpenAiChatCaller } from "../src/index.ts";

/** A value as hosts without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) ?? undefined;

const cases: readonly [string, unknown, string][] = [
  [
    "a misspelled baseURL, which would send the key to another server",
    { baseUrl: "http://127.0.0.1:1", apiKey: "k" },
    'Unknown option "baseUrl" of CALLER. Did you mean "baseURL"?',
  ],
  [
    "a setting of requests",
    { temperature: 0 },
    'Unknown option "temperature" of CALLER. It is a setting of requests: pass it as settings.temperature of the request or of the agent.',
  ],
  ["a time limit as text", { idleTimeoutMs: "x" }, 'a positive number of milliseconds, got "x".'],
  ["a time limit of 0", { firstChunkTimeoutMs: 0 }, "must be a positive number of milliseconds, got 0."],
  ["a key that is a number, whose value is not shown", { apiKey: 5 }, "must be a string, got a number."],
  [
    "headers with a value that is not text",
    { headers: { a: 1 } },
    "whose values are strings, got an object.",
  ],
  ["fetch that is not a function", { fetch: true }, "fetch of CALLER must be a function, got true."],
  ["text in place of the options", "fast", 'CALLER needs an object of options, got "fast".'],
];

describe.each([
  ["openai", (options: unknown) => openai("m", untyped(options))],
  ["openai", (options: unknown) => new OpenAiCaller(untyped(options))],
  ["openaiChat", (options: unknown) => openaiChat("m", untyped(options))],
  ["openaiChat", (options: unknown) => new OpenAiChatCaller(untyped(options))],
])("a caller of %s refuses where the options are given", (caller, create) => {
  it.each(cases)("%s", (_, options, message) => {
    const attempt = () => create(options);
    expect(attempt).toThrow(LlmOptionError);
    expect(attempt).toThrow(
      expect.objectContaining({
        code: "InvalidOption",
        message: expect.stringContaining(message.replace("CALLER", caller)),
      }),
    );
  });
});

describe("openaiChat refuses", () => {
  it.each<[string, unknown, string]>([
    ["the name of a profile", "ollama", 'must be a profile such as chatProfiles.ollama, got "ollama".'],
    [
      "a profile without its fields",
      { name: "x" },
      "profile.baseURL of openaiChat is missing. It must be a string.",
    ],
    [
      "an unknown role in a profile",
      { ...chatProfiles.local, noteRole: "tool" },
      'profile.noteRole of openaiChat must be "system", "developer" or "user", got "tool".',
    ],
  ])("%s", (_, profile, message) => {
    expect(() => openaiChat("m", untyped({ profile }))).toThrow(
      expect.objectContaining({ name: "LlmOptionError", message: expect.stringContaining(message) }),
    );
  });
});

it("a model that is not text is refused before any call", () => {
  expect(() => openai(untyped({ apiKey: "k" }))).toThrow("openai needs the name of a model, got an object.");
  expect(() => openaiChat(untyped(undefined))).toThrow(
    "openaiChat needs the name of a model, got undefined.",
  );
});

it("every built-in profile and every option of the right form is accepted", () => {
  for (const profile of Object.values(chatProfiles)) expect(openaiChat("m", { profile }).model).toBe("m");
  const limits = { firstChunkTimeoutMs: Number.POSITIVE_INFINITY, idleTimeoutMs: 1 };
  const options = { apiKey: "k", headers: { a: "b" }, fetch, dangerouslyAllowBrowser: false, ...limits };
  expect(openai("m", { ...options, baseURL: "https://proxy.test" }).model).toBe("m");
});
