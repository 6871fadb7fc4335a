import type { LlmPart, LlmRequest } from "@moora/llm";
import { originOf } from "@moora/llm/adapter";
import { messagesRequestProblem, signatureOf } from "@moora/llm/testing";
import { requestFromChoices } from "@moora/testbed/llm/request-from-choices";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requestToAnthropic } from "../src/wire.ts";

const origin = originOf("anthropic", "messages", "https://api.anthropic.com", "some-model");

/** Thinking as this origin makes it: signed, redacted, or unsigned as in a stream that was cut. */
const reasoning: readonly LlmPart[] = [
  ...["hm", "", '\u{1F600} "quoted"'].map((text): LlmPart => ({
    type: "reasoning",
    text,
    raw: { signature: signatureOf(text) },
  })),
  { type: "reasoning", text: "", raw: { data: "hidden" } },
  { type: "reasoning", text: "half", raw: { signature: "" } },
];

const requests = fc
  .array(fc.nat(), { maxLength: 150, size: "max" })
  .map((choices) => requestFromChoices(choices, { origin, reasoning }));

const tokensIn = (request: LlmRequest): readonly string[] => [
  "hidden",
  ...request.messages.flatMap((message) =>
    message.role === "assistant"
      ? message.turn.parts.map((part) => (part.type === "reasoning" ? signatureOf(part.text) : ""))
      : [],
  ),
];

describe("any request that the port allows", () => {
  it("is valid for the Messages API", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const body = JSON.parse(JSON.stringify(requestToAnthropic(request, { origin }).body));
        expect(messagesRequestProblem(body, tokensIn(request))).toBeUndefined();
      }),
      { numRuns: 400 },
    );
  });

  it("is a prefix of the same request with more messages", () => {
    fc.assert(
      fc.property(requests, requests, (request, { messages }) => {
        const context = { origin, cache: "off" } as const;
        const longer = { ...request, messages: [...request.messages, ...messages] };
        const short = requestToAnthropic(request, context).body.messages;
        const long = requestToAnthropic(longer, context).body.messages;
        expect(long.slice(0, short.length - 1)).toEqual(short.slice(0, -1));
      }),
      { numRuns: 200 },
    );
  });

  it("is not modified by the conversion", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const before = structuredClone(request);
        requestToAnthropic(request, { origin });
        expect(request).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });
});
