import { describe, expect, it } from "vitest";
import { logprobsToConfidence } from "@moora/llm/adapter";

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
