import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  agentTransition,
  beginReplay,
  initialAgentState,
  parseState,
  replay,
  step,
  type AgentInput,
  type AgentState,
} from "../src/index.ts";

const start = initialAgentState({
  config: { limits: { maxSteps: 300 }, reflection: { everyNSteps: 0, aboveInputTokens: 0 } },
  tools: { search: { description: "Searches.", schema: "{}" } },
});

/** The next input of a conversation that never ends. `choice` decides between the inputs that the state accepts. */
function nextInput(state: AgentState, choice: number, n: number): AgentInput {
  const { control } = state.reActContext;
  const timestamp = n;
  if (choice === 0) return { type: "context-note-added", text: `note ${n}`, timestamp };
  if (choice === 1 || !("calls" in control || control.type === "Planning"))
    return { type: "user-message-received", messageId: `user_${n}`, content: `message ${n}`, timestamp };
  if (choice === 2) return { type: "re-act-cancelled", reason: `cancel ${n}`, timestamp };
  if (choice === 3) return { type: "llm-message-started", messageId: `answer_${n}`, timestamp };
  if ("calls" in control) {
    const open = control.calls[choice % control.calls.length];
    const result = { isSuccess: true, content: `result ${n}`, receivedAt: n } as const;
    return { type: "tool-call-completed", toolCallId: open?.id ?? "", result, timestamp };
  }
  const toolCalls = Object.fromEntries(
    Array.from({ length: (choice % 5) + 1 }, (_, index) => [
      `call_${n}_${index}`,
      { name: "search", parameters: "{}", calledAt: n },
    ]),
  );
  const observation =
    choice === 4 ? ({ type: "complete-re-act" } as const) : ({ type: "continue-re-act", toolCalls } as const);
  return { type: "re-act-observed", calledLlmAt: n, observation, timestamp };
}

const choices = fc.array(fc.nat({ max: 12 }), { minLength: 500, maxLength: 700 });

const json = (state: AgentState): string => JSON.stringify(state);

const restored = (state: AgentState): AgentState => {
  const parsed = parseState(JSON.parse(json(state)));
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.state;
};

describe("a conversation with more messages, calls and entries than one array of a state keeps", () => {
  it("has the same states live, folded, and continued from JSON at any position", () => {
    fc.assert(
      fc.property(choices, fc.nat({ max: 499 }), (drawn, at) => {
        let state = start;
        let fromJson = start;
        const inputs: AgentInput[] = [];
        const early: [AgentState, string][] = [];
        drawn.forEach((choice, n) => {
          const input = nextInput(state, choice, n);
          inputs.push(input);
          state = agentTransition(input)(state);
          fromJson = agentTransition(input)(n === at ? restored(fromJson) : fromJson);
          if (n % 97 === 0) early.push([state, json(state)]);
        });
        expect(state.toolCallCount).toBeGreaterThan(64);
        expect(state.transcript.length).toBeGreaterThan(64);
        expect(json(fromJson)).toBe(json(state));
        expect(json(replay(inputs, start))).toBe(json(state));
        expect(json(replay(inputs.slice(at), replay(inputs.slice(0, at), start)))).toBe(json(state));
        for (const [published, text] of early) expect(json(published)).toBe(text);
      }),
      { numRuns: 20 },
    );
  });

  it("records the same changes live and in a fold", () => {
    fc.assert(
      fc.property(choices, (drawn) => {
        let state = start;
        const fold = beginReplay(start, { changes: true });
        drawn.forEach((choice, n) => {
          const input = nextInput(state, choice, n);
          const stepped = step(input)(state);
          const folded = fold.apply(input);
          expect(folded?.changes ?? []).toEqual(stepped.changes);
          state = stepped.state;
        });
      }),
      { numRuns: 5 },
    );
  });

  it("names each thing that an input changed once, and an open call only where its control state stays", () => {
    let state = start;
    for (let n = 0; n < 300; n += 1) {
      const { state: next, changes } = step(nextInput(state, 5 + (n % 7), n))(state);
      const names = changes.map((change) => {
        if (change.op === "put-open-call") return `open ${change.call.id}`;
        if (change.op === "remove-open-call") return `open ${change.id}`;
        return "index" in change ? `${change.op} ${change.index}` : "id" in change ? change.id : change.op;
      });
      expect(new Set(names).size).toBe(names.length);
      const setsControl = changes.some((change) => change.op === "set-context" && "control" in change.fields);
      if (setsControl) expect(names.filter((name) => name.startsWith("open "))).toEqual([]);
      state = next;
    }
  });

  it("can be continued in two ways from one state, and each finds its own messages and calls", () => {
    let state = start;
    for (let n = 0; n < 300; n += 1) state = agentTransition(nextInput(state, 5 + (n % 7), n))(state);
    const continued = (prefix: number): AgentState => {
      let next = state;
      for (let n = 0; n < 100; n += 1)
        next = agentTransition(nextInput(next, 5 + ((n + prefix) % 7), prefix + n))(next);
      return next;
    };
    const before = json(state);
    const first = continued(1_000);
    const second = continued(2_000);
    expect(json(continued(1_000))).toBe(json(first));
    for (const one of [first, second]) expect(json(restored(one))).toBe(json(one));
    const added = Object.keys(first.toolCalls).filter((id) => state.toolCalls[id] === undefined);
    expect(added.length).toBeGreaterThan(10);
    for (const id of added) expect(second.toolCalls[id]).toBeUndefined();
    expect(json(state)).toBe(before);
  });

  it("settles the right call where two ways contain the same calls in another order", () => {
    let state = start;
    for (let n = 0; n < 300; n += 1) state = agentTransition(nextInput(state, 5 + (n % 7), n))(state);
    while (state.reActContext.control.type !== "Planning")
      state = agentTransition(nextInput(state, 5, state.updatedAt + 1))(state);
    const calling = (...ids: readonly string[]): AgentInput => ({
      type: "re-act-observed",
      calledLlmAt: 1_000,
      observation: {
        type: "continue-re-act",
        toolCalls: Object.fromEntries(
          ids.map((id) => [id, { name: "search", parameters: `{"q":"${id}"}`, calledAt: 1_000 }]),
        ),
      },
      timestamp: 1_000,
    });
    const first = agentTransition(calling("p", "q"))(state);
    const second = agentTransition(calling("q", "p"))(state);
    expect(Object.keys(first.toolCalls).slice(-2)).toEqual(["p", "q"]);
    expect(Object.keys(second.toolCalls).slice(-2)).toEqual(["q", "p"]);
    const result = { isSuccess: true, content: "found", receivedAt: 1_001 } as const;
    const input: AgentInput = { type: "tool-call-completed", toolCallId: "p", result, timestamp: 1_001 };
    for (const branch of [first, second, first]) {
      const { toolCalls } = agentTransition(input)(branch);
      expect(toolCalls["p"]).toMatchObject({ parameters: '{"q":"p"}', result });
      expect(toolCalls["q"]).toMatchObject({ parameters: '{"q":"q"}', result: null });
    }
  });

  it("is plain data for copies, clones and proxies of its states", () => {
    let state = start;
    for (let n = 0; n < 300; n += 1) state = agentTransition(nextInput(state, 5 + (n % 7), n))(state);
    expect(Object.keys(state)).toEqual(Object.keys(start));
    expect(JSON.stringify({ ...state })).toBe(json(state));
    expect(structuredClone(state)).toEqual(state);
    expect(new Proxy(state, {}).messages).toBe(state.messages);
    expect(state.toolCalls).toBe(state.toolCalls);
    const renamed = { ...state, messages: [] };
    const input = {
      type: "user-message-received",
      messageId: "new",
      content: "Hello.",
      timestamp: 1,
    } as const;
    expect(agentTransition(input)(renamed).messages).toHaveLength(1);
  });
});
