import { agentTransition, initialAgentState, type AgentInput } from "@moora/agent-core-state-machine";
import { drawConfig, drawInput, drawTools, seededChoose } from "@moora/agent-testing";
import { describe, expect, it } from "vitest";

/** What drawn inputs do to the usage that is still to be reported, by the field or the type of input that does it. */
function seenIn(conversations: number): ReadonlySet<string> {
  const seen = new Set<string>();
  for (let seed = 1; seed <= conversations; seed += 1) {
    const choose = seededChoose(seed);
    let state = initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) });
    const past: AgentInput[] = [];
    for (let count = 0; count < 60; count += 1) {
      const input = drawInput(state, past, choose);
      past.push(input);
      const next = agentTransition(input)(state);
      if (next === state) continue;
      const [before, after] = [state.unreportedUsage.length, next.unreportedUsage.length];
      if ("usageFollows" in input && after > before) seen.add(`usageFollows of ${input.type}`);
      if ("reportsUsage" in input && before > 0 && after > 0) seen.add("reportsUsage keeps");
      if (input.type === "session-opened" && before > 0 && after === 0) seen.add("an opening drops");
      if (input.type === "usage-reported") seen.add("a report applies");
      state = next;
    }
  }
  return seen;
}

describe("drawn inputs", () => {
  it("announce usage that follows, report it, and open sessions with and without reports", () => {
    expect([...seenIn(3_000)].toSorted()).toEqual([
      "a report applies",
      "an opening drops",
      "reportsUsage keeps",
      "usageFollows of state-handled",
      "usageFollows of tool-call-completed",
    ]);
  });
});
