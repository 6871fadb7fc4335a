import type { LlmUsage } from "../../outcome.ts";
import { requestOf, requestWithTools, text } from "./requests.ts";
import { check, equal, rules, rulesOf, streamedText, textOf, type ConformanceCase } from "./scene.ts";

const usage: LlmUsage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteTokens: 10,
  outputTokens: 30,
  reasoningTokens: 12,
};
const sum = text("The sum ", "is 3.");
const joinedPair = "\u{1F600}";

/** The schemas of answers, which the model needs as a field of the request or in the system text. */
const schemas = ["object", "array"].flatMap((type) => [true, false].map((withTool) => ({ type, withTool })));

/** Text, reasoning, usage and finish reasons. */
export const answerCases: readonly ConformanceCase[] = [
  ...rules([], {
    "a plain answer is complete, with its finish reason and its model": async (at) => {
      const outcome = await at.answer(sum);
      equal(textOf(outcome), "The sum is 3.", "The text");
      equal(outcome.turn.parts.length, 1, "The number of parts");
      equal(outcome.finish.unified, "stop", "The finish reason");
      equal(outcome.model, "model-a", "The model");
      check(outcome.turn.origin !== "", "A turn must have an origin.");
    },
    "text is streamed while it is generated": async (at) => {
      const { chunks } = await at.answer(sum);
      equal(streamedText(chunks, "text"), "The sum is 3.", "The streamed text");
      check(chunks.length > 1, "The text was streamed in one chunk.");
    },
    "a listener that throws does not break the call": async (at) => {
      const onChunk = (): void => {
        throw new Error("The listener fails.");
      };
      equal(textOf(await at.answer(sum, undefined, { onChunk })), "The sum is 3.", "The text");
    },
    "a large answer is complete": async (at) => {
      const pieces = Array.from({ length: 64 }, (_, index) =>
        String.fromCodePoint(97 + (index % 26)).repeat(32_768),
      );
      const complete = textOf(await at.answer(text(...pieces))) === pieces.join("");
      check(complete, "A text of two million characters was changed.");
    },
    "an answer that was cut by the token limit has the finish reason length": async (at) => {
      const outcome = await at.answer({ ...text("The sum "), finish: "length" });
      equal(outcome.finish.unified, "length", "The finish");
      equal(textOf(outcome), "The sum ", "The text");
    },
  }),
  ...rules(["http"], {
    "a surrogate pair that is split over two chunks is joined": async (at) => {
      const outcome = await at.answer(text("so \ud83d", "\ude00 ", "\ud83d"));
      equal(textOf(outcome), `so ${joinedPair} \ufffd`, "The text");
      equal(streamedText(outcome.chunks, "text"), `so ${joinedPair} \ufffd`, "The streamed text");
      const isWhole = outcome.chunks.every((chunk) => chunk.type !== "text" || chunk.text.isWellFormed());
      check(isWhole, "A chunk contains half a surrogate pair.");
    },
    "usage counts all input, and how much of it was cached": async (at) => {
      const outcome = await at.answer({ ...text("3"), usage });
      const cacheWriteTokens = at.subject.features.includes("cache-writes") ? 10 : 0;
      equal(outcome.usage, { ...usage, cacheWriteTokens }, "The usage");
    },
  }),
  ...rules(["reasoning"], {
    "reasoning is separate from text and precedes it": async (at) => {
      const outcome = await at.answer({ reasoning: "One and two make three.", text: ["3"] });
      const types = outcome.turn.parts.map((part) => part.type);
      equal(types, ["reasoning", "text"], "The parts");
      equal(textOf(outcome), "3", "The text");
      equal(streamedText(outcome.chunks, "reasoning"), "One and two make three.", "The streamed reasoning");
    },
  }),
  ...rulesOf(
    ["http"],
    schemas,
    ({ type, withTool }) =>
      `the schema of an answer of type ${type} is in the request, ${withTool ? "with" : "without"} tools, equal for equal requests`,
    async (at, { type, withTool }) => {
      const properties = { celsius_now: { type: "number" } };
      const item = { type: "object", properties, required: ["celsius_now"] };
      const answerSchema = type === "object" ? item : { type, items: item };
      const request = withTool ? requestWithTools({ answerSchema }) : requestOf({ answerSchema });
      await at.answer(text("{}"), request);
      await at.answer(text("{}"), request);
      const [first = "", second] = at.harness.bodies;
      check(first.includes("celsius_now"), "The request does not contain the schema.");
      equal(second, first, "The second body");
    },
  ),
  ...rules(["log-probabilities"], {
    "confidence is computed from log-probabilities if it is requested": async (at) => {
      const answer = { text: ["3", "."], logprobs: [Math.log(0.25), Math.log(1)] };
      const { confidence = 0 } = await at.answer(answer, requestOf({ settings: { confidence: true } }));
      check(Math.abs(confidence - 0.5) < 1e-9, `The confidence must be 0.5, got ${confidence}`);
      equal((await at.answer(answer)).confidence, undefined, "The confidence without a request for it");
    },
  }),
  ...rulesOf(
    ["http"],
    ["", " \n"],
    (blank) => `an answer of ${JSON.stringify(blank)} is the failure empty, which is retryable`,
    async (at, blank) => {
      const { retryable } = await at.failure("empty", { type: "answer", answer: text(blank) });
      check(retryable, "The failure must be retryable.");
    },
  ),
  ...rules(["refusals"], {
    "a refusal is a failure that is not retried": async (at) => {
      const answer = { ...text("I "), finish: "refusal" } as const;
      const { retryable } = await at.failure("refusal", { type: "answer", answer });
      check(!retryable, "The failure must not be retryable.");
      equal(at.harness.bodies.length, 1, "The number of requests");
    },
  }),
  ...rules(["content-filter"], {
    "an answer that a content filter stopped is a failure that is not retried": async (at) => {
      const answer = { ...text("Take "), finish: "content-filter" } as const;
      const { retryable, partial } = await at.failure("content-filter", { type: "answer", answer });
      check(!retryable, "The failure must not be retryable.");
      equal(partial, "Take ", "The partial text");
      equal(at.harness.bodies.length, 1, "The number of requests");
    },
  }),
];
