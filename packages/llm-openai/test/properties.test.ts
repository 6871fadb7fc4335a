import type { LlmPart, LlmRequest } from "@moora/llm";
import { isJsonObject, originOf } from "@moora/llm/adapter";
import {
  chatRequestProblem,
  encryptedContentOf,
  mistralRules,
  responsesRequestProblem,
} from "@moora/llm/testing";
import { requestFromChoices } from "@moora/testbed/llm/request-from-choices";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatProfiles } from "../src/index.ts";
import { requestToChat, requestToOpenAi } from "../src/wire.ts";
import { messagesIn } from "./support/messages-in.ts";

const origin = originOf("openai", "responses", "https://api.openai.com/v1", "some-model");

/** A reasoning item as this origin makes it, with one summary for each text. */
const reasoningOf = (...texts: readonly string[]): LlmPart => ({
  type: "reasoning",
  text: texts.join("\n\n"),
  raw: {
    id: "rs_1",
    encrypted_content: encryptedContentOf(texts.map((text) => ({ type: "summary_text", text }))),
    summary: texts.map((text) => text.length),
  },
});

const reasoning = [reasoningOf("hm"), reasoningOf("One.", "Two."), reasoningOf("a\n\nb", " ", "\u{1F600}")];

const requests = fc
  .array(fc.nat(), { maxLength: 150, size: "max" })
  .map((choices) => requestFromChoices(choices, { origin, reasoning }));

/** A body as it is sent. */
const sent = (body: object): Record<string, never> => JSON.parse(JSON.stringify(body));

const tokenIn = (part: LlmPart): string => {
  const token =
    part.type === "reasoning" && isJsonObject(part.raw) ? part.raw["encrypted_content"] : undefined;
  return typeof token === "string" ? token : "";
};

const tokensIn = ({ messages }: LlmRequest): readonly string[] =>
  messages.flatMap((message) => (message.role === "assistant" ? message.turn.parts.map(tokenIn) : []));

describe("any request that the port allows", () => {
  it("is valid for the Responses API", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const body = sent(requestToOpenAi(request, { origin }).body);
        expect(responsesRequestProblem(body, tokensIn(request))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it("is valid for Chat Completions of OpenAI, and of servers with strict ids and roles", () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(chatRequestProblem(sent(requestToChat(request, { origin }).body))).toBeUndefined();
        const strict = requestToChat(request, { origin }, chatProfiles.mistral).body;
        expect(chatRequestProblem(sent(strict), mistralRules)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it("is a prefix of the same request with more messages", () => {
    fc.assert(
      fc.property(requests, requests, (request, { messages }) => {
        const longer = { ...request, messages: [...request.messages, ...messages] };
        const items = requestToOpenAi(request, { origin }).body.input ?? [];
        expect(requestToOpenAi(longer, { origin }).body.input?.slice(0, items.length)).toEqual(items);
        const chat = messagesIn(sent(requestToChat(request, { origin }).body));
        expect(messagesIn(sent(requestToChat(longer, { origin }).body)).slice(0, chat.length)).toEqual(chat);
      }),
      { numRuns: 200 },
    );
  });

  it("is not modified by the conversion", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const before = structuredClone(request);
        requestToOpenAi(request, { origin });
        for (const profile of Object.values(chatProfiles)) requestToChat(request, { origin }, profile);
        expect(request).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });
});
