import { describe, expect, it } from "vitest";
import {
  agentTransition,
  beginReplay,
  memoryAt,
  replay,
  step,
  traceOf,
  ignoredReason,
  type AgentInput,
} from "../src/index.ts";
import { answered, asked, restingIn, start, succeeded, wants } from "./walk.ts";

describe("the memory view", () => {
  it("shows the loop in the words of the hybrid machine", () => {
    const memory = memoryAt(replay([asked, wants("search", "search"), succeeded], start));
    expect(memory).toMatchObject({
      task: "q",
      taskType: "default",
      state: "ParallelActing",
      step: 1,
      retryCount: 0,
      confidenceScore: null,
      currentToolCall: { toolCallId: "call_2", observation: null },
      lastObservation: "SUCCESS: r",
      pendingApproval: null,
      finalAnswer: null,
      error: null,
      blacklistedTools: [],
    });
    expect(memory.parallelResults).toEqual([expect.objectContaining({ success: true })]);
    expect(memory.history).toHaveLength(1);
  });

  it("shows who is asked, how it ended and what was answered", () => {
    expect(memoryAt(replay([asked, wants("pay")], start)).pendingApproval).toMatchObject({
      name: "pay",
      risk: "low",
      reason: "tool",
    });
    expect(memoryAt(replay([asked, answered], start)).finalAnswer).toBe("a");
    expect(
      memoryAt(replay([asked, { type: "re-act-cancelled", reason: "enough", timestamp: 2 }], start)).error,
    ).toMatchObject({
      kind: "Cancelled",
      message: "enough",
    });
    expect(memoryAt(start)).toMatchObject({ task: "", state: "Idle", history: [] });
  });
});

describe("the trace", () => {
  const fold = beginReplay(start);
  const trace = traceOf(
    [asked, wants("search"), succeeded].flatMap((input) => fold.apply(input)?.moves ?? []),
  );

  it("has an entry for each edge that was walked", () => {
    expect(trace.entries.map(({ from, event, to }) => `${from} ${event} ${to}`)).toEqual([
      "Idle Start Planning",
      "Planning LlmToolCall Acting",
      "Acting ToolSuccess Observing",
      "Observing NeedsReflection Reflecting",
    ]);
    expect(trace.length).toBe(4);
    expect(trace.forState("Planning")).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace.entries);
  });

  it("prints as a table", () => {
    const lines = trace.toText().split("\n");
    expect(lines[0]).toMatch(/^# {2}loop {2}step {2}state/);
    expect(lines[3]).toMatch(/Planning +LlmToolCall +Acting +search\(\{\}\)$/);
    expect(lines[4]).toMatch(/Acting +ToolSuccess +Observing +search\(\{\}\) SUCCESS: r$/);
    expect(lines).toHaveLength(6);
  });

  it("has no column for notes and calls if there are none", () => {
    expect(traceOf(trace.entries.slice(0, 1)).toText()).not.toContain("note");
  });

  it("carries the calls of the turn: names and arguments before they run, outcomes after it", () => {
    const call = { toolCallId: "call_1", name: "search", parameters: "{}" };
    expect(trace.entries.map(({ calls }) => calls)).toEqual([
      undefined,
      [{ ...call, observation: null, success: null }],
      [{ ...call, observation: "SUCCESS: r", success: true }],
      undefined,
    ]);
  });

  it("prints notes in a column of their own, one line and 120 characters at most", () => {
    const [first, ...others] = trace.entries;
    const long = "x".repeat(300);
    const noted = [
      ...(first === undefined ? [] : [{ ...first, note: { text: "Two\nlines.", data: { score: 7 } } }]),
      ...others.map((entry) => ({ ...entry, note: { text: long } })),
    ];
    const lines = traceOf(noted).toText().split("\n");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/ to +note$/);
    expect(lines[2]).toMatch(/ Planning +Two lines\. \{"score":7\}$/);
    expect(lines[3]).toMatch(/ Acting +x{117}\.\.\.$/);
  });
});

describe("the two carriers", () => {
  const inputs: readonly AgentInput[] = [
    asked,
    wants("search", "pay"),
    succeeded,
    asked,
    { type: "session-opened", owner: "o", timestamp: 5 },
  ];

  it("leave what they gave before untouched", () => {
    const fold = beginReplay(start);
    const seen = inputs.map((input) => {
      fold.apply(input);
      const state = fold.state();
      return { state, text: JSON.stringify(state) };
    });
    for (const { state, text } of seen) expect(JSON.stringify(state)).toBe(text);
  });

  it("report the same changes", () => {
    const fold = beginReplay(start, { changes: true });
    let state = start;
    for (const input of inputs) {
      const stepped = step(input)(state);
      expect(fold.apply(input)?.changes ?? []).toEqual(stepped.changes);
      state = stepped.state;
    }
  });
});

describe("what a host can do without parsing", () => {
  const planning = restingIn["Planning"] ?? start;

  it("a call named __proto__ is refused, and its siblings with it", () => {
    const toolCalls = JSON.parse('{"__proto__":{"name":"search","parameters":"{}","calledAt":1}}');
    const observed: AgentInput = {
      type: "re-act-observed",
      calledLlmAt: 1,
      timestamp: 1,
      observation: { type: "continue-re-act", toolCalls },
    };
    expect(ignoredReason(observed)(planning)).toBe("reserved-id");
    expect(agentTransition(observed)(planning)).toBe(planning);
  });

  it("a partial answer counts only while a message is being streamed", () => {
    const cancel: AgentInput = { type: "re-act-cancelled", partial: "It is", timestamp: 1 };
    expect(replay([cancel], planning).transcript.some((entry) => entry.type === "turn")).toBe(false);
    const streaming = replay(
      [{ type: "llm-message-started", messageId: "a", timestamp: 1 }, cancel],
      planning,
    );
    expect(streaming.transcript.at(-2)).toMatchObject({ type: "turn", messageId: "a" });
    expect(streaming.messages.at(-1)).toMatchObject({ content: "It is", status: "cut" });
  });
});
