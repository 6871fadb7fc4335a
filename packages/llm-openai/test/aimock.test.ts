import type { LlmCaller } from "@moora/llm";
import { describeAgainstMock } from "@moora/testbed/provider-mock";
import { OpenAiCaller, OpenAiChatCaller } from "../src/index.ts";

const providerOf = (name: string, callerAt: (baseURL: string) => LlmCaller) => ({
  name,
  model: "o4-mini",
  callerAt: (url: string) => callerAt(`${url}/v1`),
  failures: [
    [
      429,
      { message: "slow down", type: "rate_limit_error", code: "rate_limit_exceeded" },
      "rate-limit",
      true,
    ],
    [429, { message: "no credit", type: "insufficient_quota", code: "insufficient_quota" }, "billing", false],
    [401, { message: "wrong key", type: "invalid_request_error", code: "invalid_api_key" }, "auth", false],
    [500, { message: "oops", type: "server_error" }, "server", true],
  ] as const,
  reasoning: {},
});

const apiKey = "some-key";
describeAgainstMock([
  providerOf("Responses", (baseURL) => new OpenAiCaller({ apiKey, baseURL })),
  providerOf("Chat Completions", (baseURL) => new OpenAiChatCaller({ apiKey, baseURL })),
]);
