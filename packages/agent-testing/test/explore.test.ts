import { initialAgentState } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import { explore } from "../src/index.ts";

const tool = { description: "A tool.", schema: '{"type":"object"}' };
const { config } = initialAgentState();

describe("a small world", () => {
  it("is seen as a whole: every order of answers, decisions, cancels and crashes to a depth", () => {
    const agent = { config: { ...config, approval: { policy: "always" as const } }, tools: { pay: tool } };
    const report = explore(agent, { depth: 9 });
    expect(report.failure).toBeUndefined();
    expect(report.complete).toBe(true);
    expect(report.states).toBeGreaterThan(300);
    expect(report.edges["Planning --HumanApprovalRequired--> WaitingForHuman"]).toBeGreaterThan(0);
  });

  it("says which edges of the control graph were never walked", () => {
    const { unwalked } = explore({ config, tools: {} }, { depth: 3 });
    expect(unwalked).toContain("Acting --ToolSuccess--> Observing");
    expect(unwalked).not.toContain("Idle --Start--> Planning");
  });

  it("stops at a number of states and says that there are more", () => {
    const report = explore({ config, tools: { search: tool } }, { depth: 12, maxStates: 50 });
    expect(report).toMatchObject({ states: 50, complete: false });
  });

  it("gives a shortest way to a request that a provider would refuse", () => {
    const dialects = {
      "a server without tools": ({ messages }: { readonly messages: readonly object[] }) =>
        messages.length > 2 ? ["too many messages"] : [],
    };
    const { failure } = explore({ config, tools: { search: tool } }, { depth: 8, dialects });
    expect(String(failure?.error)).toContain("a server without tools");
    expect(failure?.inputs.length).toBeLessThan(8);
  });
});
