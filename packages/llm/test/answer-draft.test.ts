import { describe, expect, it } from "vitest";
import { noUsage, type LlmOutcome } from "@moora/llm";
import { AnswerDraft } from "@moora/llm/adapter";

const input = { inputTokens: 15_000, cachedInputTokens: 2_000, cacheWriteTokens: 10 };
const parts = [{ type: "text", text: "Hi." }] as const;

/** A draft with the usages of these events. */
function draftOf(...usages: readonly object[]): AnswerDraft {
  const draft = new AnswerDraft({ origin: "o" });
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
  it.each([
    {
      prompt_tokens: 9,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      completion_tokens: 3,
      completion_tokens_details: { reasoning_tokens: 2 },
    },
    {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 2 },
    },
    {
      input_tokens: 9,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 1,
      output_tokens: 3,
      output_tokens_details: { thinking_tokens: 2 },
    },
    { inputTokens: { total: 9, cacheRead: 4, cacheWrite: 1 }, outputTokens: { total: 3, reasoning: 2 } },
  ])("is read in the form of each API: %j", (reported) => {
    const counts = { cachedInputTokens: 4, cacheWriteTokens: 1, outputTokens: 3, reasoningTokens: 2 };
    expect(draftOf(reported).usage()).toEqual({ inputTokens: 9, ...counts });
    const apart = new AnswerDraft({ origin: "o" }, true);
    apart.report(reported);
    expect(apart.usage()).toEqual({ inputTokens: 14, ...counts });
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

describe("confidence", () => {
  const confidenceOf = (...logprobs: readonly number[]): unknown => {
    const outcome = draftOf().end({ parts, raw: "stop", logprobs });
    return outcome.ok ? outcome.confidence : outcome;
  };

  it("is the geometric mean of the tokens' probabilities", () => {
    expect(confidenceOf(Math.log(0.25), Math.log(1))).toBeCloseTo(0.5);
    expect(confidenceOf(0, 0)).toBe(1);
  });

  it("is between 0 and 1 for any input", () => {
    expect(confidenceOf(-Infinity)).toBe(0);
    expect(confidenceOf(0.5)).toBe(1);
    expect(confidenceOf(Number.NaN, 0)).toBe(1);
  });

  it("is missing without tokens", () => {
    expect(confidenceOf()).toBeUndefined();
    expect(confidenceOf(Number.NaN)).toBeUndefined();
  });
});
