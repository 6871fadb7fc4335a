import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import type { JsonObject, LlmPart, LlmRequest } from "@moora/llm";
import { encryptedContentOf, recordingFetch, signatureOf, type ServerDialect } from "@moora/llm/testing";
import { requestFromChoices } from "@moora/testbed/llm/request-from-choices";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { mistralDialect } from "@moora/testbed/mistral/mistral-dialect";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { singleSummaryDialect } from "@moora/testbed/openai/responses-dialect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aiSdk, type AiSdkFactory } from "../src/index.ts";

/** A provider, with the reasoning that it has made and expects back. */
interface Subject {
  readonly dialect: ServerDialect;
  readonly factory: AiSdkFactory;
  readonly provider: string;
  readonly rawOf: (text: string) => JsonObject;
  readonly tokenOf: (text: string) => string;
}

const summaryOf = (text: string) => [{ type: "summary_text", text }];

/** Older models accept sampling. */
const withoutSampling = (body: JsonObject): JsonObject => {
  const { temperature: _, top_p: _top, ...rest } = body;
  return rest;
};

/** Older models take the output limit as `max_tokens`. */
const openAiParameters =
  "max_tokens max_completion_tokens seed parallel_tool_calls prompt_cache_key stream_options";

/** Provider options are added to the body unchanged. */
function withoutProviderOptions(request: LlmRequest): LlmRequest {
  const { providerOptions: _, ...settings } = request.settings;
  return { ...request, settings };
}

/** Gives every reasoning item of OpenAI an id of its own, as the API does: equal ids are parts of one item. */
function withItemIds(request: LlmRequest): LlmRequest {
  let count = 0;
  const numbered = (part: LlmPart): LlmPart => {
    if (part.type !== "reasoning") return part;
    const text = JSON.stringify(part.raw).replaceAll('"rs_1"', `"rs_${(count += 1)}"`);
    return { ...part, raw: JSON.parse(text) };
  };
  const messages = request.messages.map((message) =>
    message.role === "assistant"
      ? { ...message, turn: { ...message.turn, parts: message.turn.parts.map(numbered) } }
      : message,
  );
  return { ...request, messages };
}

const subjects: Readonly<Record<string, Subject>> = {
  "the Responses API": {
    dialect: singleSummaryDialect,
    factory: (at) => createOpenAI(at).responses(at.model),
    provider: "openai.responses",
    rawOf: (text) => ({
      openai: { itemId: "rs_1", reasoningEncryptedContent: encryptedContentOf(summaryOf(text)) },
    }),
    tokenOf: (text) => encryptedContentOf(summaryOf(text)),
  },
  "Chat Completions of OpenAI": {
    dialect: chatDialect({ knownParameters: openAiParameters.split(" ") }),
    factory: (at) => createOpenAI(at).chat(at.model),
    provider: "openai.chat",
    rawOf: () => ({}),
    tokenOf: () => "",
  },
  "the Messages API": {
    dialect: {
      ...messagesDialect,
      requestProblem: (body, issued) => messagesDialect.requestProblem(withoutSampling(body), issued),
    },
    factory: (at) => createAnthropic(at)(at.model),
    provider: "anthropic.messages",
    rawOf: (text) => ({ anthropic: { signature: signatureOf(text) } }),
    tokenOf: signatureOf,
  },
  "the Gemini API": {
    dialect: geminiDialect,
    factory: (at) => createGoogle(at)(at.model),
    provider: "google.generative-ai",
    rawOf: (text) => ({ google: { thoughtSignature: signatureOf(text) } }),
    tokenOf: signatureOf,
  },
  "Chat Completions of Mistral": {
    dialect: mistralDialect,
    factory: (at) => createMistral(at)(at.model),
    provider: "mistral.chat",
    rawOf: () => ({}),
    tokenOf: () => "",
  },
};

const thoughts = ["hm", "One.\n\nTwo.", "\u{1F600}"];

/** The problem of the body that a provider's package sends for a request; undefined for a valid one. */
async function problemOf(
  { dialect, factory, tokenOf }: Subject,
  request: LlmRequest,
): Promise<string | undefined> {
  const { fetch, bodies } = recordingFetch(dialect);
  const options = { name: "p", apiKey: "some-key", baseURL: "https://server.test", fetch };
  const outcome = await aiSdk(factory, options).call(request);
  const [body] = bodies;
  if (body === undefined) return outcome.ok ? "nothing was sent" : outcome.failure.message;
  return dialect.requestProblem(body, thoughts.map(tokenOf));
}

describe.each(Object.entries(subjects))("any request that the port allows is valid for %s", (_, subject) => {
  it("through the package of the provider", async () => {
    const { provider, rawOf } = subject;
    const origin = `p/ai-sdk:${provider}/server.test/some-model`;
    const reasoning = thoughts.map((text): LlmPart => ({ type: "reasoning", text, raw: rawOf(text) }));
    const requests = fc
      .array(fc.nat(), { maxLength: 150, size: "max" })
      .map((choices) => requestFromChoices(choices, { origin, reasoning }));
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const sent = withItemIds(withoutProviderOptions(request));
        expect(await problemOf(subject, sent)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });
});
