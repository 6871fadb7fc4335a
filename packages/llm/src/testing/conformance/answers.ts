import type { LlmUsage } from "../../outcome.ts";
import { check, equal, failedAs, succeeded, textOf } from "./check.ts";
import type { ConformanceCase } from "./harness.ts";
import { asking, askingWithTools, heard, listening, patient, text } from "./requests.ts";

const usage: LlmUsage = {
  inputTokens: 100,
  cachedInputTokens: 40,
  cacheWriteTokens: 10,
  outputTokens: 30,
  reasoningTokens: 12,
};

const gone = (): void => {
  throw new Error("the viewer is gone");
};

const joinedPair = "\u{1F600}";

/** The model can only give an answer the form that it is shown, as a field of the request or in its system text. */
const schemaCase = (type: string, withTool: boolean): ConformanceCase => ({
  name: `the schema of an answer of type ${type} is in the request, ${withTool ? "with" : "without"} tools, equal for equal requests`,
  needs: ["http"],
  async run({ caller, serve, bodies }) {
    serve({ type: "answers", answer: text("{}") });
    const item = {
      type: "object",
      properties: { celsius_now: { type: "number" } },
      required: ["celsius_now"],
    };
    const answerSchema = type === "object" ? item : { type, items: item };
    const request = withTool ? askingWithTools({ answerSchema }) : asking({ answerSchema });
    await caller.call(request, patient);
    await caller.call(request, patient);
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
      serve({ type: "answers", answer: text("The sum ", "is 3.") });
      const outcome = succeeded(await caller.call(asking(), patient));
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
      serve({ type: "answers", answer: text("The sum ", "is 3.") });
      const { chunks, onChunk } = listening();
      await caller.call(asking(), { ...patient, onChunk });
      equal(heard(chunks, "text"), "The sum is 3.", "what was streamed");
      check(chunks.length > 1, "the text came in one piece");
    },
  },
  {
    name: "a listener that throws does not break the call",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answers", answer: text("The sum ", "is 3.") });
      equal(
        textOf(succeeded(await caller.call(asking(), { ...patient, onChunk: gone }))),
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
      serve({ type: "answers", answer: text(...pieces) });
      const outcome = succeeded(await caller.call(asking(), patient));
      check(textOf(outcome) === pieces.join(""), "two million characters changed on their way");
    },
  },
  {
    name: "a surrogate pair that is split over two pieces is joined",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answers", answer: text("so \ud83d", "\ude00 ", "\ud83d") });
      const { chunks, onChunk } = listening();
      const outcome = succeeded(await caller.call(asking(), { ...patient, onChunk }));
      equal(textOf(outcome), `so ${joinedPair} \ufffd`, "the text");
      equal(heard(chunks, "text"), `so ${joinedPair} \ufffd`, "what was streamed");
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
      serve({ type: "answers", answer: { reasoning: "One and two make three.", text: ["3"] } });
      const { chunks, onChunk } = listening();
      const outcome = succeeded(await caller.call(asking(), { ...patient, onChunk }));
      equal(
        outcome.turn.parts.map((part) => part.type),
        ["reasoning", "text"],
        "the parts",
      );
      equal(textOf(outcome), "3", "the text");
      equal(heard(chunks, "reasoning"), "One and two make three.", "the reasoning that was streamed");
    },
  },
  {
    name: "usage counts all input, and says what of it was cached",
    needs: ["http"],
    async run({ caller, serve }, { features }) {
      serve({ type: "answers", answer: { ...text("3"), usage } });
      const outcome = succeeded(await caller.call(asking(), patient));
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
      serve({ type: "answers", answer: { text: ["3", "."], logprobs } });
      const outcome = succeeded(await caller.call(asking({ settings: { confidence: true } }), patient));
      check(Math.abs((outcome.confidence ?? 0) - 0.5) < 1e-9, `wanted 0.5, got ${outcome.confidence}`);
      const unasked = succeeded(await caller.call(asking(), patient));
      equal(unasked.confidence, undefined, "confidence that nobody asked for");
    },
  },
  {
    name: "an answer that the token limit cut says so",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answers", answer: { ...text("The sum "), finish: "length" } });
      const outcome = succeeded(await caller.call(asking(), patient));
      equal(outcome.finish.unified, "length", "the finish");
      equal(textOf(outcome), "The sum ", "the text");
    },
  },
  ...["", " \n"].map((blank): ConformanceCase => ({
    name: `an answer of ${JSON.stringify(blank)} is empty, which may pass`,
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answers", answer: text(blank) });
      check(failedAs(await caller.call(asking(), patient), "empty").retryable, "an empty answer may pass");
    },
  })),
  {
    name: "a refusal is a failure that is not retried",
    needs: ["refusals"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answers", answer: { ...text("I "), finish: "refusal" } });
      check(!failedAs(await caller.call(asking(), patient), "refusal").retryable, "a refusal does not pass");
      equal(bodies.length, 1, "the number of requests");
    },
  },
  {
    name: "an answer that a filter stopped is a failure that is not retried",
    needs: ["content-filter"],
    async run({ caller, serve, bodies }) {
      serve({ type: "answers", answer: { ...text("Take "), finish: "content-filter" } });
      const outcome = await caller.call(asking(), patient);
      check(!failedAs(outcome, "content-filter").retryable, "a filter does not pass");
      equal(outcome.ok ? "" : outcome.partial, "Take ", "the partial text");
      equal(bodies.length, 1, "the number of requests");
    },
  },
];
