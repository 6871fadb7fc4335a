import { describe, expect, it } from "vitest";
import {
  builtInStates,
  controlEdges,
  controlName,
  fire,
  graphProblems,
  graphToMermaid,
  initialAgentState,
  nextStateName,
  replay,
  step,
  transitionTable,
  type AgentInput,
  type ControlGraph,
} from "../src/index.ts";
import { changeConfig, maxEntriesWithoutPlan, maxMovesPerInput } from "../src/internal.ts";
import { answered, asked, restingIn, start } from "./walk.ts";

const events = [
  ...new Set(builtInStates.flatMap((state) => Object.keys(transitionTable[state]))),
  "Nonsense",
  "toString",
];
const noGraph: ControlGraph = { states: [], rows: {}, terminals: [] };

describe("every pair of a control state and an event", () => {
  for (const from of builtInStates) {
    it(`from ${from}: rows move, all others end in InvalidTransition`, () => {
      const state = restingIn[from];
      if (state === undefined) throw new Error(`no state rests in ${from}`);
      expect(controlName(state.reActContext.control)).toBe(from);
      for (const event of events) {
        const fired = fire(event)(state);
        const row = nextStateName(noGraph, from, event);
        expect(fired.moves[0], `${from} ${event}`).toMatchObject({ from, event, to: row ?? "Error" });
        const { control } = fired.state.reActContext;
        if (row === undefined) {
          expect(control).toMatchObject({
            type: "Error",
            failure: { kind: "InvalidTransition", from, event },
          });
        } else if (control.type === "Error") expect(control.failure.kind).not.toBe("InvalidTransition");
      }
    });
  }

  it("counts the rows of the table", () => {
    const rows = builtInStates.flatMap((state) => Object.keys(transitionTable[state]));
    expect(rows).toHaveLength(39);
    expect(controlEdges()).toHaveLength(39);
  });

  it("cannot be changed at run time", () => {
    const table: Record<string, Record<string, string>> = transitionTable;
    expect(() => {
      if (table["Planning"] !== undefined) table["Planning"]["LlmFinalAnswer"] = "Error";
    }).toThrow(TypeError);
    expect(() => {
      table["Planning"] = {};
    }).toThrow(TypeError);
  });
});

describe("the graph", () => {
  const graph: ControlGraph = {
    states: ["Check", "Gone"],
    rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done", Out: "Gone" } },
    terminals: ["Gone"],
  };

  it("is data: the user's rows go before ours", () => {
    expect(controlEdges(graph)).toContainEqual({ from: "Planning", event: "LlmFinalAnswer", to: "Check" });
    expect(controlEdges(graph)).toContainEqual({ from: "Check", event: "Cancelled", to: "Error" });
    expect(controlEdges(graph)).not.toContainEqual({ from: "Planning", event: "LlmFinalAnswer", to: "Done" });
  });

  it("is a Mermaid diagram", () => {
    const diagram = graphToMermaid(graph).split("\n");
    expect(diagram[0]).toBe("stateDiagram-v2");
    expect(diagram).toContain("  Planning --> Acting: LlmToolCall");
    expect(diagram).toContain("  Gone --> [*]");
  });

  it.each<[string, Partial<ControlGraph>]>([
    ["The state Planning is built in", { states: ["Planning"] }],
    [
      "The state A is defined twice",
      { states: ["A", "A"], rows: { Planning: { X: "A" }, A: { Y: "Done" } } },
    ],
    ["The terminal state T is not defined", { terminals: ["T"] }],
    ["A row starts at Nowhere", { rows: { Nowhere: { X: "Done" } } }],
    ["A row starts at Done", { rows: { Done: { X: "Planning" } } }],
    ["leads to no state", { rows: { Planning: { LlmFinalAnswer: "Nowhere" } } }],
    ["only a new conversation is Idle", { rows: { Planning: { LlmFinalAnswer: "Idle" } } }],
    ["No row leads to the state A", { states: ["A"], rows: { A: { X: "Done" } } }],
    ["No row leads out of the state A", { states: ["A"], rows: { Planning: { LlmFinalAnswer: "A" } } }],
  ])("that cannot work is refused: %s", (problem, part) => {
    expect(graphProblems({ ...noGraph, ...part }).join(" ")).toContain(problem);
  });

  it("loses a row that is null, and refuses to lose one that it has not", () => {
    const without = { ...noGraph, rows: { Planning: { LowConfidence: null } } };
    expect(graphProblems(without)).toEqual([]);
    expect(nextStateName(without, "Planning", "LowConfidence")).toBeUndefined();
    expect(controlEdges(without).map(({ event }) => event)).not.toContain("LowConfidence");
    expect(graphProblems({ ...noGraph, rows: { Planning: { LowConfidense: null } } })).toEqual([
      "The row Planning --LowConfidense--> is removed, and does not exist.",
    ]);
  });

  it("that can work is taken", () => expect(graphProblems(graph)).toEqual([]));

  it.each([
    [
      "AnswerTooShort",
      { source: "event", message: "The event AnswerTooShort ended the loop in Planning.", from: "Planning" },
    ],
    ["AnswerInvalid", { source: "loop", message: "The event AnswerInvalid ended the loop in Planning." }],
    ["Cancelled", { source: "loop", message: "The task was cancelled." }],
  ])("that leads %s to Error gives the failure of that event", (event, failure) => {
    const rows = { Planning: { [event]: "Error" } };
    const planning = replay([asked], initialAgentState({ config: { graph: { ...noGraph, rows } } }));
    expect(fire(event)(planning).state.reActContext.control).toEqual({
      type: "Error",
      failure: { ...failure, kind: event },
    });
  });

  it("that goes in a circle ends in SafetyCapExceeded, after the limit of moves", () => {
    const circle = initialAgentState({
      config: {
        limits: { maxSteps: 1 },
        graph: { ...noGraph, rows: { Planning: { LlmFinalAnswer: "Planning", MaxSteps: "Planning" } } },
      },
    });
    const state = replay([asked, answered], circle);
    expect(state.reActContext.control).toMatchObject({
      type: "Error",
      failure: { kind: "SafetyCapExceeded" },
    });
    expect(maxMovesPerInput).toBeGreaterThan(30);
  });

  it("never reaches the safety cap before maxSteps: an endless tool loop ends in MaxSteps", () => {
    let state = {
      ...start,
      config: changeConfig(start.config, {
        limits: { maxSteps: 200, maxRepeatedCalls: 0 },
        reflection: { everyNSteps: 0 },
      }),
    };
    state = replay([asked], state);
    for (let call = 1; call <= 200; call += 1) {
      const id = `call_${call}`;
      state = replay(
        [
          {
            type: "re-act-observed",
            calledLlmAt: 1,
            timestamp: 1,
            observation: {
              type: "continue-re-act",
              toolCalls: { [id]: { name: "search", parameters: "{}", calledAt: 1 } },
            },
          },
          {
            type: "tool-call-completed",
            toolCallId: id,
            timestamp: 1,
            result: { isSuccess: true, content: "", receivedAt: 1 },
          },
        ],
        state,
      );
    }
    expect(state.reActContext.control).toMatchObject({ type: "Error", failure: { kind: "MaxSteps" } });
    expect(state.reActContext.step).toBe(200);
  });
});

describe("states of one's own", () => {
  const graph: ControlGraph = {
    states: ["A", "B"],
    rows: { Planning: { LlmFinalAnswer: "A" }, A: { go: "B" }, B: { go: "A" } },
    terminals: [],
  };
  const handledIn = (state: ReturnType<typeof replay>, event: string, note?: string, timestamp = 1) =>
    replay(
      [
        {
          type: "state-handled",
          key: `state/1/${state.reActContext.entries}/1`,
          event,
          ...(note === undefined ? {} : { note }),
          timestamp,
        },
      ],
      state,
    );

  it("that lead to each other for ever end in SafetyCapExceeded", () => {
    let state = replay([asked, answered], initialAgentState({ config: { graph } }));
    let entries = 0;
    for (; state.reActContext.control.type === "Custom" && entries <= maxEntriesWithoutPlan; entries += 1)
      state = handledIn(state, "go");
    expect(entries).toBe(maxEntriesWithoutPlan);
    expect(state.reActContext.control).toMatchObject({
      type: "Error",
      failure: { kind: "SafetyCapExceeded" },
    });
  });

  it("say why their handler failed", () => {
    const state = handledIn(
      replay([asked, answered], initialAgentState({ config: { graph } })),
      "HandlerFailed",
      "no network",
    );
    expect(state.reActContext.control).toMatchObject({
      failure: { kind: "InvalidTransition", message: "There is no row for HandlerFailed in A. no network" },
    });
  });

  const inA = replay([asked, answered], initialAgentState({ config: { graph } }));
  const note = { text: "Checked.", data: { score: 7, rules: ["a", null] } };
  const leaves = (event: string): AgentInput => ({
    type: "state-handled",
    key: "state/1/1/1",
    event,
    trace: note,
    timestamp: 3,
  });

  it("add a note to the trace, at the move of their event, and nothing to the state", () => {
    const { state, moves } = step(leaves("go"))(inA);
    expect(moves).toEqual([{ from: "A", event: "go", to: "B", loop: 1, step: 1, timestamp: 3, note }]);
    expect(state).toEqual(handledIn(inA, "go", undefined, 3));
  });

  it("add it to the first of several moves only", () => {
    const rows = { ...graph.rows, A: { go: "Observing" } };
    const before = replay([asked, answered], initialAgentState({ config: { graph: { ...graph, rows } } }));
    expect(step(leaves("go"))(before).moves.map(({ from, note: noted }) => [from, noted])).toEqual([
      ["A", note],
      ["Observing", undefined],
    ]);
  });

  it("add it also where no row takes their event", () => {
    expect(step(leaves("stop"))(inA).moves).toMatchObject([{ from: "A", event: "stop", to: "Error", note }]);
  });

  it("add none where their handler answers too late", () => {
    const left = handledIn(inA, "go");
    expect(step(leaves("go"))(left)).toMatchObject({ state: left, moves: [] });
  });
});
