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
      ...noUsage,
      ...input,
      inputTokens: 16_000,
      outputTokens: 47,
    });
    expect(laterCounts(input, { inputTokens: null, outputTokens: undefined, cacheWriteTokens: NaN })).toEqual(
      {
        ...noUsage,
        ...input,
      },
    );
  });
});

describe("counts that are all zero", () => {
  it("count as a usage that was not reported", () => {
    expect(countsToUsage(noUsage)).toBeUndefined();
    expect(countsToUsage({ outputTokens: 1 })).toEqual({ ...noUsage, outputTokens: 1 });
    expect(usageFields(countsToUsage({}))).toEqual({ usage: noUsage, usageMissing: true });
  });
});
