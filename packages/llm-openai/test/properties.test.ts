import { isJsonObject, originOf, type LlmPart, type LlmRequest } from "@moora/llm";
import { chatRefusal, encryptedContentOf, mistralStrictness, responsesRefusal } from "@moora/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryRequest } from "../../llm/test/support/arbitrary-request.ts";
import { chatProfiles } from "../src/index.ts";
import { requestToChat, requestToOpenAi } from "../src/wire.ts";
import { messagesIn } from "./support/messages-in.ts";

const origin = originOf("openai", "responses", "https://api.openai.com/v1", "some-model");

/** Reasoning items as this origin made them, with one to three summaries. */
const reasoning: fc.Arbitrary<LlmPart> = fc
  .array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 })
  .map((texts) => ({
    type: "reasoning",
    text: texts.join("\n\n"),
    raw: {
      id: "rs_1",
      encrypted_content: encryptedContentOf(texts.map((text) => ({ type: "summary_text", text }))),
      summary: texts.map((text) => text.length),
    },
  }));

const requests = arbitraryRequest(origin, reasoning);

/** What a request is on the wire. */
const sent = (body: object): Record<string, never> => JSON.parse(JSON.stringify(body));

const tokenIn = (part: LlmPart): string => {
  const token =
    part.type === "reasoning" && isJsonObject(part.raw) ? part.raw["encrypted_content"] : undefined;
  return typeof token === "string" ? token : "";
};

const issuedIn = ({ messages }: LlmRequest): readonly string[] =>
  messages.flatMap((message) => (message.role === "assistant" ? message.turn.parts.map(tokenIn) : []));

describe("any request that the port allows", () => {
  it("obeys the rules of the Responses API", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const body = sent(requestToOpenAi(request, { origin }).body);
        expect(responsesRefusal(body, issuedIn(request))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it("obeys the rules of Chat Completions, at OpenAI and where ids and turns are strict", () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(chatRefusal(sent(requestToChat(request, { origin }).body))).toBeUndefined();
        const strict = requestToChat(request, { origin }, chatProfiles.mistral).body;
        expect(chatRefusal(sent(strict), mistralStrictness)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it("is the beginning of the same request with more messages", () => {
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

  it("is not changed by the one who sends it", () => {
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
