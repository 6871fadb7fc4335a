import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { describeAgainstMock } from "@moora/testbed/provider-mock";
import { aiSdk, type AiSdkFactory } from "../src/index.ts";

const providerOf = (name: string, model: string, path: string, factory: AiSdkFactory) => ({
  name: `@ai-sdk/${name}`,
  model,
  callerAt: (url: string) => aiSdk(factory, { model, apiKey: "some-key", baseURL: `${url}${path}` }),
  failures: [
    [429, { message: "slow down", type: "rate_limit_error" }, "rate-limit", true],
    [401, { message: "wrong key", type: "authentication_error" }, "auth", false],
    [500, { message: "oops", type: "server_error" }, "server", true],
  ] as const,
});

describeAgainstMock([
  providerOf("openai, Responses", "o4-mini", "/v1", (at) => createOpenAI(at).responses(at.model)),
  providerOf("openai, Chat Completions", "o4-mini", "/v1", (at) => createOpenAI(at).chat(at.model)),
  providerOf("anthropic", "claude-sonnet-4-5", "/v1", (at) => createAnthropic(at)(at.model)),
  providerOf("google", "gemini-2.5-pro", "/v1beta", (at) => createGoogle(at)(at.model)),
  providerOf("mistral", "mistral-large-latest", "/v1", (at) => createMistral(at)(at.model)),
]);
