import {
  llmConformance,
  openHarness,
  type ConformanceSubject,
  type LlmFeature,
  type ServerDialect,
} from "@moora/llm/testing";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { singleSummaryDialect } from "@moora/testbed/openai/responses-dialect";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { mistralDialect } from "@moora/testbed/mistral/mistral-dialect";
import { describe, expect, it } from "vitest";
import { anthropic, google, mistral, openAiChat, openAiResponses, type CallerAt } from "./support/callers.ts";

/** What every provider here does. */
const everywhere: readonly LlmFeature[] = ["http", "loose-ids", "images"];

function itConforms(
  keyName: string,
  dialect: ServerDialect,
  callerAt: CallerAt,
  features: readonly LlmFeature[],
): void {
  const subject: ConformanceSubject = {
    features: [...everywhere, ...features],
    keyName,
    open: (setup) => openHarness(dialect, setup, callerAt),
  };
  it.each(llmConformance(subject))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
}

describe("@ai-sdk/openai, Responses", () => {
  itConforms("OPENAI_API_KEY", singleSummaryDialect, openAiResponses, [
    "reasoning",
    "signed-reasoning",
    "cache-writes",
    "content-filter",
    "interleaved-calls",
    "text-arguments",
    "cache-key",
  ]);
});

describe("@ai-sdk/openai, Chat Completions", () => {
  itConforms("OPENAI_API_KEY", chatDialect(), openAiChat, [
    "content-filter",
    "interleaved-calls",
    "text-arguments",
    "cache-key",
  ]);
});

/** Older models accept a temperature. */
const samplingDialect: ServerDialect = {
  ...messagesDialect,
  requestProblem: (body, issued) => {
    const { temperature: _, ...rest } = body;
    return messagesDialect.requestProblem(rest, issued);
  },
};

describe("@ai-sdk/anthropic", () => {
  itConforms("ANTHROPIC_API_KEY", samplingDialect, anthropic, [
    "reasoning",
    "signed-reasoning",
    "cache-writes",
    "refusals",
    "text-arguments",
  ]);
});

describe("@ai-sdk/google", () => {
  itConforms("GOOGLE_GENERATIVE_AI_API_KEY", geminiDialect, google, [
    "files",
    "reasoning",
    "signed-reasoning",
    "content-filter",
  ]);
});

describe("@ai-sdk/mistral", () => {
  itConforms("MISTRAL_API_KEY", mistralDialect, mistral, [
    "reasoning",
    "interleaved-calls",
    "text-arguments",
    "cache-key",
  ]);
});
