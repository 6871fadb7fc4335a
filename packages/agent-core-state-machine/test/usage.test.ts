import { describe, expect, it } from "vitest";
import { agentTransition, replay, type AgentInput } from "../src/index.ts";
import { changeConfig } from "../src/internal.ts";
import { asked, start, succeeded, wants } from "./walk.ts";

const planned: AgentInput = {
  type: "re-act-observed",
  calledLlmAt: 1,
  timestamp: 1,
  observation: {
    type: "continue-re-act",
    toolCalls: { call_1: { name: "search", parameters: "{}", calledAt: 1 } },
  },
  usage: { inputTokens: 30, outputTokens: 10, cost: 0.5 },
};
const used = { ...succeeded, usage: { inputTokens: 100, outputTokens: 50, cost: 0.25 } };

describe("what a tool used", () => {
  it("counts for the loop and in total, and says nothing of the window", () => {
    const { usage, reActContext } = replay([asked, planned, used], start);
    expect(usage).toMatchObject({ inputTokens: 130, outputTokens: 60, cost: 0.75 });
    expect(reActContext.usage).toEqual(usage);
    expect(reActContext.inputTokens).toBe(30);
  });

  it("counts once, however often it is dispatched", () => {
    const once = replay([asked, wants("search", "search"), used], start);
    expect(agentTransition(used)(once)).toBe(once);
  });

  it("ends the loop at its next step where it reaches the budget (K04)", () => {
    const limited = {
      ...start,
      config: changeConfig(start.config, { reflection: { everyNSteps: 9 }, budget: { maxTokens: 150 } }),
    };
    const { control } = replay([asked, planned, used], limited).reActContext;
    expect(control).toMatchObject({ type: "Error", failure: { kind: "BudgetExceeded" } });
  });
});
