import { AnthropicCaller } from "@moora/llm-anthropic";
import { chatProfiles, OpenAiCaller, OpenAiChatCaller, type ChatProfileName } from "@moora/llm-openai";
import { planner } from "@moora/planner";
import { aiSdkProviders } from "./ai-sdk-providers.ts";
import type { Provider } from "./provider.ts";

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
