import { llmConformance, openHarness, type ConformanceSubject } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AnthropicCaller } from "../src/index.ts";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";

const subject: ConformanceSubject = {
  features: [
    "http",
    "reasoning",
    "early-usage",
    "signed-reasoning",
    "cache-writes",
    "refusals",
    "text-arguments",
    "loose-ids",
    "images",
  ],
  keyName: "ANTHROPIC_API_KEY",
  open: (setup) =>
    openHarness(messagesDialect, setup, (baseURL, apiKey) => new AnthropicCaller({ baseURL, apiKey })),
};

describe("the Messages API", () => {
  it.each(llmConformance(subject))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
