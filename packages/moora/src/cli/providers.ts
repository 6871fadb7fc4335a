import type { LlmCaller } from "@moora/llm";
import type { ConnectionOptions } from "@moora/llm/adapter";
import { AnthropicCaller } from "@moora/llm-anthropic";
import { chatProfiles, OpenAiCaller, OpenAiChatCaller, type ChatProfileName } from "@moora/llm-openai";
import { planner } from "@moora/planner";
import { aiSdkProviders } from "./ai-sdk-providers.ts";

/** A provider of models, and the variable of its API key. */
export interface Provider {
  readonly name: string;
  /** The environment variable of the API key; missing where none is needed. */
  readonly keyName?: string;
  /** Sets of environment variables that the package of the provider reads itself. One set must be complete. */
  readonly variables?: readonly (readonly string[])[];
  readonly needsModel: boolean;
  /** The package that its adapter loads at the first call: an optional peer dependency. */
  readonly sdk?: string;
  readonly callerOf: (connection: ConnectionOptions) => LlmCaller;
}

const chat = (name: ChatProfileName, shown: string = name): Provider => {
  const profile = chatProfiles[name];
  return {
    name: shown,
    ...("keyName" in profile && { keyName: profile.keyName }),
    needsModel: true,
    sdk: "openai",
    callerOf: (connection) => new OpenAiChatCaller({ ...connection, profile }),
  };
};

/** In the order in which keys are looked for when no provider is named. */
export const providers: readonly Provider[] = [
  {
    name: "openai",
    keyName: "OPENAI_API_KEY",
    needsModel: true,
    sdk: "openai",
    callerOf: (connection) => new OpenAiCaller(connection),
  },
  {
    name: "anthropic",
    keyName: "ANTHROPIC_API_KEY",
    needsModel: true,
    sdk: "@anthropic-ai/sdk",
    callerOf: (connection) => new AnthropicCaller(connection),
  },
  chat("openrouter"),
  chat("groq"),
  chat("mistral"),
  chat("deepseek"),
  chat("together"),
  chat("openai", "openai-chat"),
  ...aiSdkProviders,
  chat("ollama"),
  chat("vllm"),
  chat("local"),
  { name: "planner", needsModel: false, callerOf: () => planner() },
];

/** What a user reads where the planner answers. */
export const plannerNotice: string =
  "The planner answers: a deterministic stand-in, not a language model. It picks tools by the words of a request and " +
  "quotes their results. For a model set an API key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, and use --model.";
