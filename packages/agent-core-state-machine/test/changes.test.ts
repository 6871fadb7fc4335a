import { describe, expect, it } from "vitest";
import { initialAgentState, step, type AgentInput, type AgentState } from "../src/index.ts";

const tools = { look: { description: "Looks.", schema: '{"type":"object"}' } };

const fieldsOf = (input: AgentInput, state: AgentState): readonly string[] =>
  step(input)(state).changes.flatMap((change) =>
    change.op === "set-state" ? Object.keys(change.fields) : [],
  );

describe("the changes of an input", () => {
  it("are the same for a state that has other objects with the same values", () => {
    const state = initialAgentState({ tools });
    const copy: AgentState = JSON.parse(JSON.stringify(state));
    const input: AgentInput = {
      type: "agent-configured",
      config: { systemPrompt: "Be brief." },
      tools: state.tools,
      timestamp: 1,
    };
    expect(fieldsOf(input, state)).toEqual(["config"]);
    expect(fieldsOf(input, copy)).toEqual(["config"]);
  });
});
