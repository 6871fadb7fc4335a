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
  throw new Error("the viewer is gone");
};

const joinedPair = "\u{1F600}";

/** The model can only give an answer the form that it is shown, as a field of the request or in its system text. */
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
    check(bodies[0]?.includes("celsius_now") === true, "the schema is nowhere in the request");
    equal(bodies[1], bodies[0], "the second body");
  },
});

/** Text, reasoning, usage and the ways to finish. */
export const answerCases: readonly ConformanceCase[] = [
  {
    name: "a plain answer comes whole, with its finish and the model that gave it",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("The sum ", "is 3.") });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(textOf(outcome), "The sum is 3.", "the text");
      equal(outcome.turn.parts.length, 1, "the number of parts");
      equal(outcome.finish.unified, "stop", "the finish");
      equal(outcome.model, "model-a", "the model");
      check(outcome.turn.origin !== "", "a turn names its origin");
    },
  },
  {
    name: "text is streamed while it is made",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("The sum ", "is 3.") });
      const { chunks, onChunk } = collectChunks();
      await caller.call(requestOf(), { ...longTimeouts, onChunk });
      equal(streamedText(chunks, "text"), "The sum is 3.", "what was streamed");
      check(chunks.length > 1, "the text came in one piece");
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
        "the text",
      );
    },
  },
  {
    name: "a large answer is kept whole",
    needs: [],
    async run({ caller, serve }) {
      const pieces = Array.from({ length: 64 }, (_, index) =>
        String.fromCodePoint(97 + (index % 26)).repeat(32_768),
      );
      serve({ type: "answer", answer: text(...pieces) });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      check(textOf(outcome) === pieces.join(""), "two million characters changed on their way");
    },
  },
  {
    name: "a surrogate pair that is split over two pieces is joined",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text("so \ud83d", "\ude00 ", "\ud83d") });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestOf(), { ...longTimeouts, onChunk }));
      equal(textOf(outcome), `so ${joinedPair} \ufffd`, "the text");
      equal(streamedText(chunks, "text"), `so ${joinedPair} \ufffd`, "what was streamed");
      check(
        chunks.every((chunk) => chunk.type !== "text" || chunk.text.isWellFormed()),
        "a piece is half a character",
      );
    },
  },
  {
    name: "reasoning is told apart from text and comes before it",
    needs: ["reasoning"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { reasoning: "One and two make three.", text: ["3"] } });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestOf(), { ...longTimeouts, onChunk }));
      equal(
        outcome.turn.parts.map((part) => part.type),
        ["reasoning", "text"],
        "the parts",
      );
      equal(textOf(outcome), "3", "the text");
      equal(streamedText(chunks, "reasoning"), "One and two make three.", "the reasoning that was streamed");
    },
  },
  {
    name: "usage counts all input, and says what of it was cached",
    needs: ["http"],
    async run({ caller, serve }, { features }) {
      serve({ type: "answer", answer: { ...text("3"), usage } });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      const cacheWriteTokens = features.includes("cache-writes") ? 10 : 0;
      equal(outcome.usage, { ...usage, cacheWriteTokens }, "the usage");
    },
  },
  ...["object", "array"].flatMap((type) => [true, false].map((withTool) => schemaCase(type, withTool))),
  {
    name: "confidence is computed from log-probabilities when it is asked for",
    needs: ["log-probabilities"],
    async run({ caller, serve }) {
      const logprobs = [Math.log(0.25), Math.log(1)];
      serve({ type: "answer", answer: { text: ["3", "."], logprobs } });
      const outcome = expectSuccess(
        await caller.call(requestOf({ settings: { confidence: true } }), longTimeouts),
      );
      check(Math.abs((outcome.confidence ?? 0) - 0.5) < 1e-9, `wanted 0.5, got ${outcome.confidence}`);
      const unasked = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(unasked.confidence, undefined, "confidence that nobody asked for");
    },
  },
  {
    name: "an answer that the token limit cut says so",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { ...text("The sum "), finish: "length" } });
      const outcome = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(outcome.finish.unified, "length", "the finish");
      equal(textOf(outcome), "The sum ", "the text");
    },
  },
  ...["", " \n"].map((blank): ConformanceCase => ({
    name: `an answer of ${JSON.stringify(blank)} is empty, which may pass`,
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: text(blank) });
      check(
        expectFailure(await caller.call(requestOf(), longTimeouts), "empty").retryable,
        "an empty answer may pass",
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
        "a refusal does not pass",
      );
      equal(bodies.length, 1, "the number of requests");
    },
  },
  {
    name: "an answer that a filter stopped is a failure that is not retried",
    needs: ["content-filter"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: { ...text("Take "), finish: "content-filter" } });
      const outcome = await caller.call(requestOf(), longTimeouts);
      check(!expectFailure(outcome, "content-filter").retryable, "a filter does not pass");
      equal(outcome.ok ? "" : outcome.partial, "Take ", "the partial text");
      equal(bodies.length, 1, "the number of requests");
    },
  },
];
