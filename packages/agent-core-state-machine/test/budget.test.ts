import { describe, expect, it } from "vitest";
import { addAgentUsage, cappedBudget, noAgentUsage } from "../src/internal.ts";

describe("a budget that is capped to what its caller may spend", () => {
  it("is the smaller amount of both, for a loop; what is limited in total stays", () => {
    const own = { maxTokens: 100, maxCost: 5, maxTotalTokens: 1_000, maxTotalCost: 50 };
    expect(cappedBudget(own, { tokens: 70, cost: 7 })).toEqual({ ...own, maxTokens: 70 });
    expect(cappedBudget(own, { tokens: 700, cost: 0.5 })).toEqual({ ...own, maxCost: 0.5 });
  });

  it("has an amount where either has one, and none where neither has", () => {
    expect(cappedBudget({}, { tokens: 70 })).toEqual({ maxTokens: 70 });
    expect(cappedBudget({ maxTokens: 100 }, { cost: 2 })).toEqual({ maxTokens: 100, maxCost: 2 });
    expect(cappedBudget({}, {})).toEqual({});
  });

  it("has whole tokens only", () => {
    expect(cappedBudget({}, { tokens: 70.9 })).toEqual({ maxTokens: 70 });
  });
});

it("the sum of two enormous reports is a number that JSON keeps", () => {
  const report = { ...noAgentUsage, inputTokens: Number.MAX_VALUE, cost: Number.MAX_VALUE };
  const sum = addAgentUsage(addAgentUsage(noAgentUsage, report), report);
  expect(JSON.parse(JSON.stringify(sum))).toEqual(sum);
});
