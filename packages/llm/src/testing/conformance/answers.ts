import type { LlmUsage } from "../../outcome.ts";
import { check, equal, expectFailure, expectSuccess, textOf } from "./check.ts";
import type { ConformanceCase } from "./harness.ts";
import { requestOf, requestWithTools, streamedText, collectChunks, longTimeouts, text } from "./requests.ts";

const usage: LlmUsage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteTokens: 10,
  outputTokens: 30,
  reasoningTokens: 12,
};

const throwingListener = (): void => {
  throw new Error("The listener fails.");
};

const joinedPair = "\u{1F600}";

/** The model needs the schema of its answer, as a field of the request or in the system text. */
const schemaCase = (type: string, withTool: boolean): ConformanceCase => ({
  name: `the schema of an answer of type ${type} is in the request, ${withTool ? "with" : "without"} tools, equal for equal requests`,
  needs: ["http"],
  async run({ caller, serve, bodies }) {
    serve({ type: "answer", answer: text("{}") });
    const item = {
      type: "object",
      properties: { celsius_now: { type: "number" } },
      required: ["celsius_now"],
    };
    const answerSchema = type === "object" ? item : { type, items: item };
    const request = withTool ? requestWithTools({ answerSchema }) : requestOf({ answerSchema });
    await caller.call(request, longTimeouts);
    await caller.call(request, longTimeouts);
    check(bodies[0]?.includes("celsius_now") === true, "The request does not contain the schema.");
    equal(bodies[1], bodies[0], "The second body");
  },
});

/** Text, reasoning, usage and finish reasons. */
export const answerCases: readonly ConformanceCase[] = [
  {
    name: "a plain answer is complete, with its finish reason and its model",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("The sum ", "is 3.") });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(textOf(outcome), "The sum is 3.", "The text");
      equal(outcome.turn.parts.length, 1, "The number of parts");
      equal(outcome.finish.unified, "stop", "The finish reason");
      equal(outcome.model, "model-a", "The model");
      check(outcome.turn.origin !== "", "A turn must have an origin.");
    },
  },
  {
    name: "text is streamed while it is generated",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("The sum ", "is 3.") });
      const { chunks, onChunk } = collectChunks();
      await caller.call(requestOf(), { ...longTimeouts, onChunk });
      equal(streamedText(chunks, "text"), "The sum is 3.", "The streamed text");
      check(chunks.length > 1, "The text was streamed in one chunk.");
    },
  },
  {
    name: "a listener that throws does not break the call",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("The sum ", "is 3.") });
      equal(
        textOf(expectSuccess(await caller.call(requestOf(), { ...longTimeouts, onChunk: throwingListener }))),
        "The sum is 3.",
        "The text",
      );
    },
  },
  {
    name: "a large answer is complete",
    needs: [],
    async run({ caller, serve }) {
      const pieces = Array.from({ length: 64 }, (_, index) =>
        String.fromCodePoint(97 + (index % 26)).repeat(32_768),
      );
      serve({ type: "answer", answer: text(...pieces) });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      check(textOf(outcome) === pieces.join(""), "A text of two million characters was changed.");
    },
  },
  {
    name: "a surrogate pair that is split over two chunks is joined",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("so \ud83d", "\ude00 ", "\ud83d") });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestOf(), { ...longTimeouts, onChunk }));
      equal(textOf(outcome), `so ${joinedPair} \ufffd`, "The text");
      equal(streamedText(chunks, "text"), `so ${joinedPair} \ufffd`, "The streamed text");
      check(
        chunks.every((chunk) => chunk.type !== "text" || chunk.text.isWellFormed()),
        "A chunk contains half a surrogate pair.",
      );
    },
  },
  {
    name: "reasoning is separate from text and precedes it",
    needs: ["reasoning"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { reasoning: "One and two make three.", text: ["3"] } });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestOf(), { ...longTimeouts, onChunk }));
      equal(
        outcome.turn.parts.map((part) => part.type),
        ["reasoning", "text"],
        "The parts",
      );
      equal(textOf(outcome), "3", "The text");
      equal(streamedText(chunks, "reasoning"), "One and two make three.", "The streamed reasoning");
    },
  },
  {
    name: "usage counts all input, and how much of it was cached",
    needs: ["http"],
    async run({ caller, serve }, { features }) {
      serve({ type: "answer", answer: { ...text("3"), usage } });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      const cacheWriteTokens = features.includes("cache-writes") ? 10 : 0;
      equal(outcome.usage, { ...usage, cacheWriteTokens }, "The usage");
    },
  },
  ...["object", "array"].flatMap((type) => [true, false].map((withTool) => schemaCase(type, withTool))),
  {
    name: "confidence is computed from log-probabilities if it is requested",
    needs: ["log-probabilities"],
    async run({ caller, serve }) {
      const logprobs = [Math.log(0.25), Math.log(1)];
      serve({ type: "answer", answer: { text: ["3", "."], logprobs } });
      const outcome = expectSuccess(
        await caller.call(requestOf({ settings: { confidence: true } }), longTimeouts),
      );
      check(
        Math.abs((outcome.confidence ?? 0) - 0.5) < 1e-9,
        `The confidence must be 0.5, got ${outcome.confidence}`,
      );
      const unrequested = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(unrequested.confidence, undefined, "The confidence without a request for it");
    },
  },
  {
    name: "an answer that was cut by the token limit has the finish reason length",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { ...text("The sum "), finish: "length" } });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(outcome.finish.unified, "length", "The finish");
      equal(textOf(outcome), "The sum ", "The text");
    },
  },
  ...["", " \n"].map((blank): ConformanceCase => ({
    name: `an answer of ${JSON.stringify(blank)} is the failure empty, which is retryable`,
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text(blank) });
      check(
        expectFailure(await caller.call(requestOf(), longTimeouts), "empty").retryable,
        "The failure must be retryable.",
      );
    },
  })),
  {
    name: "a refusal is a failure that is not retried",
    needs: ["refusals"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: { ...text("I "), finish: "refusal" } });
      check(
        !expectFailure(await caller.call(requestOf(), longTimeouts), "refusal").retryable,
        "The failure must not be retryable.",
      );
      equal(bodies.length, 1, "The number of requests");
    },
  },
  {
    name: "an answer that a content filter stopped is a failure that is not retried",
    needs: ["content-filter"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: { ...text("Take "), finish: "content-filter" } });
      const outcome = await caller.call(requestOf(), longTimeouts);
      check(!expectFailure(outcome, "content-filter").retryable, "The failure must not be retryable.");
      equal(outcome.ok ? "" : outcome.partial, "Take ", "The partial text");
      equal(bodies.length, 1, "The number of requests");
    },
  },
];
