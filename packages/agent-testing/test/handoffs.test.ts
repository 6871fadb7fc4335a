import {
  agentTransition,
  initialAgentState,
  step,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import { drawInput, drawTools, keepLaws, seededChoose } from "../src/index.ts";

type Handoff = Extract<AgentInput, { type: "tool-call-completed" }>;

interface DrawnHandoff {
  readonly input: Handoff;
  readonly before: AgentState;
  readonly after: AgentState;
}

const handoffsIn = ({ transcript }: AgentState): number =>
  transcript.filter(({ type }) => type === "handoff").length;

/** The handoffs that apply in drawn conversations of a team, each with the states before and after it. */
function drawnHandoffs(seeds: number): readonly DrawnHandoff[] {
  const drawn: DrawnHandoff[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const choose = seededChoose(seed);
    const keeper = keepLaws({ from: initialAgentState({ tools: drawTools(choose), activeAgent: "triage" }) });
    for (let count = 0; count < 50; count += 1) {
      const before = keeper.state;
      const input = drawInput(before, keeper.inputs, choose);
      keeper.apply(input);
      const isHandoff =
        input.type === "tool-call-completed" && input.handoff !== undefined && input.result.isSuccess;
      if (isHandoff && keeper.state !== before) drawn.push({ input, before, after: keeper.state });
    }
  }
  return drawn;
}

describe("a handoff", () => {
  const drawn = drawnHandoffs(800);
  const isDone = ({ before, after }: DrawnHandoff): boolean => handoffsIn(after) > handoffsIn(before);

  it("changes everything that it is about, or nothing but the result of its call", () => {
    for (const { input, before, after } of drawn) {
      const result = after.toolCalls[input.toolCallId]?.result;
      if (handoffsIn(after) > handoffsIn(before)) {
        expect(handoffsIn(after)).toBe(handoffsIn(before) + 1);
        expect(after.activeAgent).toBe(input.handoff?.to);
        expect(after.tools).toEqual(input.handoff?.tools);
        expect(result).toEqual(input.result);
      } else {
        expect(result).toMatchObject({ isSuccess: false, code: "not-handed-over" });
        expect([after.activeAgent, after.config, after.tools]).toEqual([
          before.activeAgent,
          before.config,
          before.tools,
        ]);
      }
    }
  });

  it("applies once", () => {
    for (const { input, after } of drawn) expect(agentTransition(input)(after)).toBe(after);
  });

  it("is one change of the configuration, the tools and the agent, as viewers and digests see it", () => {
    for (const { input, before } of drawn.filter(isDone)) {
      const changes = step(input)(before).changes.filter(({ op }) => op === "set-state");
      expect(changes).toMatchObject([{ fields: { activeAgent: input.handoff?.to } }]);
    }
  });

  it("was drawn of both kinds", () => {
    expect(drawn.filter(isDone).length).toBeGreaterThan(20);
    expect(drawn.filter((one) => !isDone(one)).length).toBeGreaterThan(20);
  });

  it("fails in a session that is not one of a team", () => {
    for (const { input, before } of drawn.filter(isDone).slice(0, 10)) {
      const { activeAgent: _, ...alone } = before;
      const after = agentTransition(input)(alone);
      expect("activeAgent" in after).toBe(false);
      expect(after.toolCalls[input.toolCallId]?.result).toMatchObject({ code: "not-handed-over" });
    }
  });
});
