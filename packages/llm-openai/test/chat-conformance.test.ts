import {
  llmConformance,
  mistralRules,
  openHarness,
  type ChatServerRules,
  type ConformanceSubject,
  type LlmFeature,
} from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { chatProfiles, OpenAiChatCaller, type ChatProfile } from "../src/index.ts";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";

const features: readonly LlmFeature[] = [
  "http",
  "reasoning",
  "early-usage",
  "refusals",
  "content-filter",
  "interleaved-calls",
  "text-arguments",
  "loose-ids",
  "images",
  "files",
];

const subject = (
  profile: ChatProfile,
  more: readonly LlmFeature[],
  rules?: ChatServerRules,
): ConformanceSubject => ({
  features: [...features, ...more],
  ...(profile.keyName !== undefined && { keyName: profile.keyName }),
  open: (setup) =>
    openHarness(
      chatDialect(rules),
      setup,
      (baseURL, apiKey) => new OpenAiChatCaller({ profile, baseURL, apiKey }),
    ),
});

describe("Chat Completions of OpenAI", () => {
  it.each(llmConformance(subject(chatProfiles.openai, ["log-probabilities", "cache-key"])))(
    "$name",
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    },
  );
});

describe("Chat Completions of Mistral, with strict ids and alternating roles", () => {
  it.each(llmConformance(subject(chatProfiles.mistral, [], mistralRules)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
