import { llmRequestAt, LlmRequestCache } from "@moora/agent-core-effects";
import { requestAt } from "@moora/agent-core-effects/internal";
import {
  agentTransition,
  initialAgentState,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import {
  answered,
  asked,
  callsMade,
  drawConfig,
  drawInput,
  drawTools,
  seededChoose,
  succeeded,
  type Choose,
} from "../src/index.ts";

const after = (state: AgentState, ...inputs: readonly AgentInput[]): AgentState =>
  inputs.reduce((at, input) => agentTransition(input)(at), state);

/** One cache for all conversations, which a session would not do: whatever it contains, requests stay the same. */
const oneForAll = new LlmRequestCache();

/** The request of a state, with the shared memo and with one cache, and that of a copy of it, which no memo knows. */
function checkMemo(state: AgentState, about: string): void {
  const fresh = JSON.stringify(llmRequestAt(structuredClone(state)));
  expect(JSON.stringify(llmRequestAt(state)), about).toBe(fresh);
  expect(JSON.stringify(requestAt(state, oneForAll)), about).toBe(fresh);
}

function begun(choose: Choose): { state: AgentState; inputs: AgentInput[] } {
  return { state: initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) }), inputs: [] };
}

const continueFrom = (
  { state, inputs }: ReturnType<typeof begun>,
  choose: Choose,
): ReturnType<typeof begun> => {
  const input = drawInput(state, inputs, choose);
  return { state: agentTransition(input)(state), inputs: [...inputs, input] };
};

describe("the memo of a request never shows", () => {
  it("in thousands of drawn conversations, at every step", () => {
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const choose = seededChoose(seed);
      let at = begun(choose);
      for (let count = 0; count < 25; count += 1) {
        at = continueFrom(at, choose);
        checkMemo(at.state, `seed ${seed}, step ${count}`);
      }
    }
  });

  it("in long ones, also where only some of their requests are made", () => {
    let checked = 0;
    for (let seed = 1; seed <= 40; seed += 1) {
      const choose = seededChoose(50_000 + seed);
      let at = begun(choose);
      for (let count = 0; count < 200; count += 1) {
        at = continueFrom(at, choose);
        if (choose(5) > 0) continue;
        checked += 1;
        checkMemo(at.state, `seed ${seed}, step ${count}`);
      }
    }
    expect(checked).toBeGreaterThan(1_000);
  });

  it("in branches of one conversation, asked for in any order", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const choose = seededChoose(90_000 + seed);
      let branches = [begun(choose)];
      for (let count = 0; count < 40; count += 1) {
        const from = branches[choose(branches.length)] ?? begun(choose);
        const next = continueFrom(from, choose);
        checkMemo(next.state, `seed ${seed}, step ${count}`);
        checkMemo(from.state, `seed ${seed}, step ${count}, the branch it came from`);
        branches = [...branches, next].slice(-6);
      }
    }
  });

  it("where two branches of one state differ in a result only", () => {
    const acting = after(
      initialAgentState({ tools: { search: { description: "", schema: "{}" } } }),
      asked("q"),
      callsMade("plan/1/1/1", { call_1: { name: "search" }, call_2: { name: "search" } }),
      succeeded("call_1", "same"),
    );
    const [left, right] = [
      after(acting, succeeded("call_2", "left")),
      after(acting, succeeded("call_2", "right")),
    ];
    for (const state of [left, right, left, right]) checkMemo(state, "branches");
    expect(JSON.stringify(llmRequestAt(left))).toContain("left");
    expect(JSON.stringify(llmRequestAt(right))).toContain("right");
  });

  it("where a host edits a state by hand: a message, a result, an entry", () => {
    const state = after(
      initialAgentState({ tools: { search: { description: "", schema: "{}" } } }),
      asked("my secret"),
      callsMade("plan/1/1/1", { call_1: { name: "search" } }),
      succeeded("call_1", "found the secret"),
    );
    expect(JSON.stringify(llmRequestAt(state))).toContain("secret");
    const [message] = state.messages;
    const record = state.toolCalls["call_1"];
    if (message === undefined || record === undefined) throw new Error("There is no conversation.");
    const unsaid: AgentState = { ...state, messages: [{ ...message, content: "(redacted)" }] };
    checkMemo(unsaid, "a message");
    expect(JSON.stringify(llmRequestAt(unsaid))).not.toContain("my secret");
    expect(JSON.stringify(llmRequestAt(state))).toContain("my secret");
    const redacted: AgentState = {
      ...state,
      messages: [{ ...message, content: "(redacted)" }],
      toolCalls: { call_1: { ...record, result: { isSuccess: true, content: "(redacted)", receivedAt: 1 } } },
    };
    checkMemo(redacted, "redacted");
    expect(JSON.stringify(llmRequestAt(redacted))).not.toContain("secret");
    const bare: AgentState = { ...state, messages: [], toolCalls: {} };
    checkMemo(bare, "bare");
    checkMemo({ ...state, toolCalls: { 1: record } }, "again");
  });

  it("and what it gave before does not change later", () => {
    let state = after(initialAgentState({ config: { limits: { maxSteps: 99 } } }), asked("q"));
    const given: [ReturnType<typeof llmRequestAt>, string][] = [];
    for (let loop = 1; loop <= 30; loop += 1) {
      const request = llmRequestAt(state);
      given.push([request, JSON.stringify(request)]);
      state = after(state, answered(`plan/${loop}/1/1`, "a"), asked("next", `m${loop}`));
    }
    for (const [request, text] of given) expect(JSON.stringify(request)).toBe(text);
  });
});
