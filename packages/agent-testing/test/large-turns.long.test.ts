import {
  initialAgentState,
  replay,
  step,
  type AgentInput,
  type AgentState,
  type Control,
  type OpenCall,
} from "@moora/agent-core-state-machine";
import { openCallOf, openCallsOf } from "@moora/agent-core-state-machine/internal";
import { describe, expect, it } from "vitest";
import {
  drawConfig,
  drawInput,
  drawTools,
  keepLaws,
  seededChoose,
  type Choose,
  type LawKeeper,
} from "../src/index.ts";

const mostCalls = 100;

/** An agent that may call all its tools at once, often few of them. */
function drawnAgent(choose: Choose): AgentState {
  const { toolCalls, graph: _, ...config } = drawConfig(choose);
  const base = { description: "drawn", schema: '{"type":"object"}' };
  return initialAgentState({
    config: {
      ...config,
      limits: { maxSteps: 50 },
      toolCalls: { maxParallel: choose(2) === 0 ? mostCalls : 4, ...toolCalls, maxPerTurn: mostCalls },
    },
    tools: { ...drawTools(choose), spender: { ...base, spends: { tokens: 5 } }, plain: base },
  });
}

/** A turn with more calls than a state keeps in one array, of all tools of the agent. */
function largeTurn({ tools, updatedAt: timestamp }: AgentState, choose: Choose): AgentInput {
  const names = Object.keys(tools);
  const toolCalls = Object.fromEntries(
    Array.from({ length: 65 + choose(mostCalls - 65) }, (_, index) => [
      `call_${timestamp}_${index}`,
      { name: names[choose(names.length)] ?? "plain", parameters: "{}", calledAt: timestamp },
    ]),
  );
  const observation = { type: "continue-re-act", toolCalls } as const;
  return { type: "re-act-observed", calledLlmAt: timestamp, observation, timestamp };
}

const nextInput = ({ state, inputs }: LawKeeper, choose: Choose): AgentInput =>
  state.reActContext.control.type === "Planning" && choose(2) === 0
    ? largeTurn(state, choose)
    : drawInput(state, inputs, choose);

/** The open calls that the changes of an input make of an array. */
function changedCalls(calls: readonly OpenCall[], { changes }: ReturnType<ReturnType<typeof step>>) {
  let changed = calls;
  for (const change of changes) {
    if (change.op === "set-context" && change.fields.control !== undefined)
      changed = openCallsOf(change.fields.control);
    if (change.op === "remove-open-call") changed = changed.filter(({ id }) => id !== change.id);
    if (change.op === "put-open-call")
      changed = changed.map((open) => (open.id === change.call.id ? change.call : open));
  }
  return changed;
}

function expectCalls(control: Control, calls: readonly OpenCall[]): void {
  expect(openCallsOf(control)).toEqual(calls);
  for (const call of calls) expect(openCallOf(control, call.id)).toEqual(call);
}

/** A conversation with large turns, every input of it held to the laws. Returns the most calls that were open. */
function converse(seed: number): number {
  const choose = seededChoose(seed);
  const from = drawnAgent(choose);
  const keeper = keepLaws({ from, replays: false });
  keeper.apply({ type: "user-message-received", messageId: "m", content: "?", timestamp: 1 });
  const published: (readonly [AgentState, string])[] = [];
  let most = 0;
  while (keeper.inputs.length < 100) {
    const { state: before } = keeper;
    const input = nextInput(keeper, choose);
    keeper.apply(input);
    const calls = changedCalls(openCallsOf(before.reActContext.control), step(input)(before));
    expectCalls(keeper.state.reActContext.control, calls);
    most = Math.max(most, calls.length);
    if (keeper.inputs.length % 20 === 0) published.push([keeper.state, JSON.stringify(keeper.state)]);
  }
  expect(JSON.stringify(replay(keeper.inputs, from))).toBe(JSON.stringify(keeper.state));
  for (const [state, json] of published) expect(JSON.stringify(state)).toBe(json);
  return most;
}

describe("turns of many calls", () => {
  it("keep every law at every step, and change one open call as one array of all calls would", () => {
    const most = Array.from({ length: 8 }, (_, index) => converse(index + 1));
    expect(most.filter((calls) => calls > 64).length).toBeGreaterThan(3);
  });

  it("end with their last result, in whatever order the results arrive", () => {
    const choose = seededChoose(1);
    const keeper = keepLaws({
      from: initialAgentState({
        config: { toolCalls: { maxPerTurn: mostCalls, maxParallel: 5 } },
        tools: { plain: { description: "A tool.", schema: "{}" } },
      }),
    });
    keeper.apply({ type: "user-message-received", messageId: "m", content: "?", timestamp: 1 });
    keeper.apply(largeTurn(keeper.state, choose));
    const open = (): readonly OpenCall[] => openCallsOf(keeper.state.reActContext.control);
    for (let left = open().length; left > 0; left -= 1) {
      expect(open()).toHaveLength(left);
      const running = open().filter(({ status }) => status.type === "running");
      expect(running).toHaveLength(Math.min(left, 5));
      const toolCallId = running[choose(running.length)]?.id ?? "";
      const result = { isSuccess: true, content: "done", receivedAt: 1 } as const;
      keeper.apply({ type: "tool-call-completed", toolCallId, result, timestamp: 1 });
    }
    expect(keeper.state.reActContext.control.type).toBe("Planning");
  });
});
