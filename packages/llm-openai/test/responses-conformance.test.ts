import { llmConformance, openHarness, type ConformanceSubject } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { OpenAiCaller } from "../src/index.ts";
import { responsesDialect } from "@moora/testbed/openai/responses-dialect";

const subject: ConformanceSubject = {
  features: [
    "http",
    "reasoning",
    "early-usage",
    "signed-reasoning",
    "cache-writes",
    "log-probabilities",
    "refusals",
    "content-filter",
    "interleaved-calls",
    "text-arguments",
    "loose-ids",
    "images",
    "files",
    "cache-key",
  ],
  keyName: "OPENAI_API_KEY",
  open: (setup) =>
    openHarness(responsesDialect, setup, (baseURL, apiKey) => new OpenAiCaller({ baseURL, apiKey })),
};

describe("the Responses API", () => {
  it.each(llmConformance(subject))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
