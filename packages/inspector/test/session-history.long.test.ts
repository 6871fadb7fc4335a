import { headerToState, parsePortable, recordToInput, textToHeader } from "@moora/agent";
import { effectsAt } from "@moora/agent-core-effects";
import { inputsIn, isPaused, replay } from "@moora/agent-core-state-machine";
import { asked, callsMade, decided, interrupted, llmStarted, opened, started } from "@moora/agent-testing";
import { describe, expect, it } from "vitest";
import { hasMark } from "../src/session/marks.ts";
import { checkpointDistance, SessionHistory } from "../src/session/session-history.ts";
import { readExport } from "../src/session/read-export.ts";
import type { Span } from "../src/session/spans.ts";
import { lanes, type Lane } from "../src/session/work.ts";
import { sampleSession } from "../test-browser/sample-session.ts";
import { corpus, exportOf, exportOfInputs, historyOf } from "./support.ts";

/** A session that is opened, with all spans of its timeline. */
function spansOf(text: string): { readonly history: SessionHistory; readonly spans: readonly Span[] } {
  const reader = readExport(text);
  const history = new SessionHistory(reader.id, reader.header);
  const records = reader.next(Number.MAX_SAFE_INTEGER);
  const spans = records.flatMap((record) =>
    history.append(record).spans.map((span) => [span.id, span] as const),
  );
  return { history, spans: [...new Map(spans).values()] };
}

const positionsOf = (length: number): readonly number[] =>
  [
    ...new Set([
      0,
      1,
      checkpointDistance - 1,
      checkpointDistance,
      checkpointDistance + 1,
      length - 1,
      length,
    ]),
  ].filter((seq) => seq >= 0 && seq <= length);

describe("a history", () => {
  it.each(corpus)("%s has the state of a replay at every position", (name) => {
    const text = exportOf(name);
    const { header, records } = parsePortable(text);
    const history = historyOf(text);
    const inputs = records.map(recordToInput);
    for (const seq of positionsOf(inputs.length)) {
      const expected = replay(inputs.slice(0, seq), headerToState(textToHeader(header)));
      expect(JSON.stringify(history.stateAt(seq)), `record ${seq}`).toBe(JSON.stringify(expected));
    }
  });

  it.each(corpus)("%s has a row for each record, with the control state after it", (name) => {
    const history = historyOf(exportOf(name));
    for (const { seq, state } of history.rows) {
      const { control } = history.stateAt(seq).reActContext;
      expect(state).toBe(control.type === "Custom" ? control.name : control.type);
    }
  });

  it("shows what a handler has noted in the trace", () => {
    const { rows } = historyOf(exportOf("a-state-that-adds-to-the-trace"));
    const noted = 'state handled, Fine: It was checked. {"rules":3,"passed":["a",null]}';
    expect(rows.filter(({ text }) => text.startsWith(noted))).toHaveLength(1);
  });

  it.each(corpus)("%s has spans that do not overlap within a state, a step or a loop", (name) => {
    const { history, spans } = spansOf(exportOf(name));
    for (const lane of ["state", "step", "loop"]) {
      const own = spans.filter((span) => span.lane === lane);
      for (const [index, span] of own.entries()) {
        expect(span.to ?? history.length).toBeGreaterThanOrEqual(span.from);
        const next = own[index + 1];
        if (next !== undefined) expect(next.from).toBeGreaterThanOrEqual(span.to ?? Number.POSITIVE_INFINITY);
      }
    }
  });

  it.each(corpus)("%s has model calls with the keys of their effects, each within its step", (name) => {
    const { history, spans } = spansOf(exportOf(name));
    const steps = spans.filter(({ lane }) => lane === "step");
    for (const { name: key, from } of spans.filter(({ lane }) => lane === "model")) {
      const state = history.stateAt(from);
      // A paused session wants no effect.
      if (!isPaused(state)) expect(Object.keys(effectsAt(state))).toContain(key);
      const { loop, step } = state.reActContext;
      const own = steps.find((span) => span.name === `step ${step} of loop ${loop}`);
      expect(own?.from).toBeLessThanOrEqual(from);
      expect(own?.to ?? history.length).toBeGreaterThan(from);
    }
  });

  it("has named spans in each lane of the sample", async () => {
    const { spans } = spansOf(await sampleSession());
    const named = (lane: Lane): readonly string[] =>
      spans.flatMap((span) => (span.lane === lane ? [`${span.name} ${span.from}-${span.to ?? ""}`] : []));
    expect(Object.fromEntries(lanes.map((lane) => [lane, named(lane)]))).toEqual({
      state: [
        "Idle 1-2",
        "Planning 2-4",
        "ParallelActing 4-6",
        "Planning 6-7",
        "WaitingForHuman 7-8",
        "Acting 8-10",
        "Planning 10-12",
        "Done 12-13",
        "Planning 13-16",
        "Acting 16-17",
        "Planning 17-18",
        "WaitingForHuman 18-19",
        "Planning 19-21",
        "Done 21-",
      ],
      model: [
        "plan/1/1/1 2-4",
        "plan/1/2/1 6-7",
        "plan/1/3/1 10-12",
        "plan/2/1/1 13-14",
        "plan/2/1/2 15-16",
        "plan/2/2/1 17-18",
        "plan/2/3/1 19-21",
      ],
      tool: [
        "call_1 look_up_order 4-5",
        "call_2 refund_policy 4-6",
        "call_3 refund 8-9",
        "call_3 refund 9-10",
        "call_4 look_up_order 16-17",
      ],
      human: ["approval of call_3 refund 7-8", "approval of call_5 refund 18-19"],
      wait: ["retry of the model call 14-15"],
      step: [
        "step 1 of loop 1 2-6",
        "step 2 of loop 1 6-10",
        "step 3 of loop 1 10-12",
        "step 1 of loop 2 13-17",
        "step 2 of loop 2 17-19",
        "step 3 of loop 2 19-21",
      ],
      loop: ["loop 1 2-12", "loop 2 13-21"],
    });
  });

  it.each(corpus)("%s marks each failed call", (name) => {
    const history = historyOf(exportOf(name));
    const failed = history.inputs.flatMap((input, index) =>
      input.type === "tool-call-completed" && !input.result.isSuccess
        ? [history.rows[index]?.marks ?? 0]
        : [],
    );
    for (const marks of failed) expect(hasMark(marks, "failure")).toBe(true);
  });

  it.each([
    "a-tool-that-asks-in-the-middle",
    "a-tool-that-asks-after-its-approval",
    "a-tool-that-asks-and-is-refused",
  ])("%s marks no retry where a call continues with its reply", (name) => {
    const history = historyOf(exportOf(name));
    const parts = history.inputs.flatMap(inputsIn);
    expect(parts.some((part) => part.type === "tool-call-started" && part.attempt > 1)).toBe(true);
    expect(history.rows.filter(({ marks }) => hasMark(marks, "retry"))).toEqual([]);
  });

  it("marks a retry where an interrupted attempt is repeated", () => {
    const history = historyOf(
      exportOfInputs([
        opened("server"),
        asked("Refund it."),
        llmStarted("plan/1/1/1"),
        callsMade("plan/1/1/1", { call_1: { name: "refund" } }),
        decided("call_1", "approved"),
        started("call_1"),
        interrupted("call_1", "unknown"),
        decided("call_1", "run-again", { digest: "digest-call_1#2" }),
        started("call_1", 2),
      ]),
    );
    expect(hasMark(history.rows.at(-1)?.marks ?? 0, "retry")).toBe(true);
  });

  it("marks a crash where a process ended in the middle of work, and no crash where it was idle", () => {
    const crashed = corpus.filter((name) =>
      historyOf(exportOf(name)).rows.some(({ marks }) => hasMark(marks, "crash")),
    );
    expect(crashed.length).toBeGreaterThan(0);
    expect(crashed).not.toContain("a-budget-of-tokens");
  });
});
