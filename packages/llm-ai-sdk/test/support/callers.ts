import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import type { LlmCaller } from "@moora/llm";
import { aiSdk, type AiSdkFactory, type AiSdkOptions } from "../../src/index.ts";

/** Creates a caller of a provider at a base URL. */
export type CallerAt = (baseURL: string, apiKey: string) => LlmCaller;

const callerOf =
  (keyName: string, factory: AiSdkFactory, options: AiSdkOptions = {}): CallerAt =>
  (baseURL, apiKey) =>
    aiSdk(factory, { ...options, keyName, baseURL, apiKey });

export const openAiResponses: CallerAt = callerOf("OPENAI_API_KEY", (connection) =>
  createOpenAI(connection).responses(connection.model),
);

export const openAiChat: CallerAt = callerOf("OPENAI_API_KEY", (connection) =>
  createOpenAI(connection).chat(connection.model),
);

const anthropicModel = callerOf("ANTHROPIC_API_KEY", (connection) =>
  createAnthropic({ ...connection, baseURL: `${connection.baseURL}/v1` })(connection.model),
);

/** The provider warns about the output limit of a model that it does not know, so every request has one. */
export const anthropic: CallerAt = (baseURL, apiKey) => {
  const caller = anthropicModel(baseURL, apiKey);
  return {
    name: caller.name,
    call: (request, options) =>
      caller.call({ ...request, settings: { maxOutputTokens: 4096, ...request.settings } }, options),
  };
};

export const google: CallerAt = callerOf("GOOGLE_GENERATIVE_AI_API_KEY", (connection) =>
  createGoogle(connection)(connection.model),
);

export const mistral: CallerAt = callerOf("MISTRAL_API_KEY", (connection) =>
  createMistral(connection)(connection.model),
);
