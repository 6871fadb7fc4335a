import { describe, expect, it } from "vitest";
import { noUsage, type LlmOutcome } from "@moora/llm";
import { OutcomeBuilder, logprobsToConfidence } from "@moora/llm/adapter";

const input = { inputTokens: 15_000, cachedInputTokens: 2_000, cacheWriteTokens: 10 };
const parts = [{ type: "text", text: "Hi." }] as const;

const own = {
  inputTokens: "inputTokens",
  cachedInputTokens: "cachedInputTokens",
  cacheWriteTokens: ["cache.written", "cacheWriteTokens"],
  outputTokens: "outputTokens",
  reasoningTokens: "reasoningTokens",
};

/** A draft with the usages of these events. */
function draftOf(...usages: readonly object[]): OutcomeBuilder {
  const draft = new OutcomeBuilder({ origin: "o" }, own);
  for (const usage of usages) draft.report(usage);
  return draft;
}

describe("the counts of a later event of one stream", () => {
  it("never replace positive counts by zeros", () => {
    const before = { ...input, outputTokens: 40, reasoningTokens: 7 };
    expect(draftOf(before, noUsage).usage()).toEqual(before);
    for (const name of ["inputTokens", "cachedInputTokens", "cacheWriteTokens"]) {
      const usage = draftOf(before, { [name]: 0, outputTokens: 45 }).usage();
      expect(usage).toEqual({ ...before, outputTokens: 45 });
    }
  });

  it("replace a count by zero where another one of the input has its tokens now", () => {
    expect(draftOf(input, { inputTokens: 0, cachedInputTokens: 17_000 }).usage()).toMatchObject({
      inputTokens: 0,
      cachedInputTokens: 17_000,
      cacheWriteTokens: 10,
    });
  });

  it("are cumulative, and change nothing where they are missing or not numbers", () => {
    const later = { inputTokens: 16_000, outputTokens: 47 };
    expect(draftOf({ ...input, outputTokens: 1 }, later).usage()).toMatchObject({ ...input, ...later });
    const wrong = { inputTokens: null, outputTokens: undefined, cacheWriteTokens: Number.NaN };
    expect(draftOf(input, wrong).usage()).toMatchObject(input);
    expect(draftOf(input, { inputTokens: -5, cachedInputTokens: 3_000 }).usage()).toMatchObject({
      ...input,
      cachedInputTokens: 3_000,
    });
  });
});

describe("a usage", () => {
  it("is read at the first path that has a count, and cached input may be counted apart", () => {
    const reported = { inputTokens: 9, cachedInputTokens: 4, cache: { written: 1 }, cacheWriteTokens: 7 };
    expect(draftOf(reported).usage()).toEqual({
      ...noUsage,
      inputTokens: 9,
      cachedInputTokens: 4,
      cacheWriteTokens: 1,
    });
    const apart = new OutcomeBuilder({ origin: "o" }, { ...own, isApart: true });
    apart.report(reported);
    expect(apart.usage()).toMatchObject({ inputTokens: 14, cachedInputTokens: 4, cacheWriteTokens: 1 });
  });

  const usageOf = (outcome: LlmOutcome): object =>
    outcome.ok ? { usage: outcome.usage, usageMissing: outcome.usageMissing } : {};

  it.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, -5, "700"])(
    "says which count is missing or not a number of tokens: %s",
    (count) => {
      const of = (reported: object): object => usageOf(draftOf(reported).end({ parts, raw: "stop" }));
      expect(of({ inputTokens: count, outputTokens: 7 })).toEqual({
        usage: { ...noUsage, outputTokens: 7 },
        usageMissing: "inputTokens",
      });
      expect(of({ inputTokens: 7, outputTokens: count })).toEqual({
        usage: { ...noUsage, inputTokens: 7 },
        usageMissing: "outputTokens",
      });
      expect(of({ inputTokens: 7, outputTokens: 0, reasoningTokens: count })).toEqual({
        usage: { ...noUsage, inputTokens: 7 },
        usageMissing: undefined,
      });
      expect(of({ inputTokens: count, outputTokens: count })).toMatchObject({ usageMissing: true });
    },
  );

  it("of zeros was not reported", () => {
    expect(draftOf(noUsage).usage()).toBeUndefined();
    expect(draftOf(noUsage).end({ parts, raw: "stop" })).toMatchObject({
      usage: noUsage,
      usageMissing: true,
    });
  });
});

it.each([
  ["refusal", "The model refused to answer."],
  ["content_filter", "A content filter stopped the answer."],
  ["model_context_window_exceeded", "The answer exceeds the context window."],
  ["network_error", "The model stopped with network_error."],
])("an answer that failed with %s says what happened: %s", (raw, message) => {
  expect(draftOf().end({ parts, raw })).toMatchObject({ failure: { message, raw } });
});

describe("confidence", () => {
  it("is the geometric mean of the tokens' probabilities", () => {
    expect(logprobsToConfidence([Math.log(0.25), Math.log(1)])).toBeCloseTo(0.5);
    expect(logprobsToConfidence([0, 0])).toBe(1);
  });

  it("is between 0 and 1 for any input", () => {
    expect(logprobsToConfidence([-Infinity])).toBe(0);
    expect(logprobsToConfidence([0.5])).toBe(1);
    expect(logprobsToConfidence([Number.NaN, 0])).toBe(1);
  });

  it("is undefined without tokens", () => {
    expect(logprobsToConfidence([])).toBeUndefined();
    expect(logprobsToConfidence([Number.NaN])).toBeUndefined();
  });
});
