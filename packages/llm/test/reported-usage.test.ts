import { describe, expect, it } from "vitest";
import { noUsage } from "../src/index.ts";
import { countsToUsage, laterCounts, usageFields } from "../src/adapter.ts";

const input = { inputTokens: 15_000, cachedInputTokens: 2_000, cacheWriteTokens: 10 };

describe("the counts of a later event of one stream", () => {
  it("never replace positive counts by zeros", () => {
    const before = { ...input, outputTokens: 40, reasoningTokens: 7 };
    expect(laterCounts(before, noUsage)).toEqual(before);
    for (const name of ["inputTokens", "cachedInputTokens", "cacheWriteTokens"] as const)
      expect(laterCounts(before, { [name]: 0, outputTokens: 45 })).toEqual({ ...before, outputTokens: 45 });
  });

  it("replace a count by zero where another one of the input has its tokens now", () => {
    expect(laterCounts(input, { inputTokens: 0, cachedInputTokens: 17_000 })).toMatchObject({
      inputTokens: 0,
      cachedInputTokens: 17_000,
      cacheWriteTokens: 10,
    });
  });

  it("are cumulative, and change nothing where they are missing or not numbers", () => {
    expect(laterCounts({ ...input, outputTokens: 1 }, { inputTokens: 16_000, outputTokens: 47 })).toEqual({
      ...input,
      inputTokens: 16_000,
      outputTokens: 47,
    });
    expect(laterCounts(input, { inputTokens: null, outputTokens: undefined, cacheWriteTokens: NaN })).toEqual(
      input,
    );
    expect(laterCounts(input, { inputTokens: -5, cachedInputTokens: 3_000 })).toEqual({
      ...input,
      cachedInputTokens: 3_000,
    });
  });
});

describe("counts that are all zero", () => {
  it("count as a usage that was not reported", () => {
    expect(countsToUsage(noUsage)).toBeUndefined();
    expect(countsToUsage({ outputTokens: 1 })).toEqual({ ...noUsage, outputTokens: 1 });
    expect(usageFields({})).toEqual({ usage: noUsage, usageMissing: true });
  });
});

describe("a count that is missing or not a number of tokens", () => {
  it.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, -5, "700" as never])(
    "is not that of the answer, which says so: %s",
    (count) => {
      expect(usageFields({ inputTokens: count, outputTokens: 7 })).toEqual({
        usage: { ...noUsage, outputTokens: 7 },
        usageMissing: "inputTokens",
      });
      expect(usageFields({ inputTokens: 7, outputTokens: count })).toEqual({
        usage: { ...noUsage, inputTokens: 7 },
        usageMissing: "outputTokens",
      });
      expect(usageFields({ inputTokens: count, outputTokens: count })).toMatchObject({ usageMissing: true });
      expect(usageFields({ inputTokens: 7, outputTokens: 0, reasoningTokens: count })).toEqual({
        usage: { ...noUsage, inputTokens: 7 },
      });
    },
  );
});
