import { headerToState, parsePortable, recordToInput, textToHeader } from "@moora/agent";
import { replay } from "@moora/agent-core-state-machine";
import { asked, callsMade, decided, interrupted, llmStarted, opened, started } from "@moora/agent-testing";
import { describe, expect, it } from "vitest";
import { hasMark } from "../src/session/marks.ts";
import { checkpointDistance, SessionHistory } from "../src/session/session-history.ts";
import { readExport } from "../src/session/read-export.ts";
import { corpus, exportOf, exportOfInputs, historyOf } from "./support.ts";

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
    expect(rows.map(({ text }) => text)).toContain(
      'state handled, Fine: It was checked. {"rules":3,"passed":["a",null]}',
    );
  });

  it.each(corpus)("%s has spans that do not overlap within a state or a loop", (name) => {
    const reader = readExport(exportOf(name));
    const history = new SessionHistory(reader.id, reader.header);
    const spans = new Map(
      reader
        .next(Number.MAX_SAFE_INTEGER)
        .flatMap((record) => history.append(record).spans.map((span) => [span.id, span])),
    );
    for (const lane of ["state", "loop"]) {
      const own = [...spans.values()].filter((span) => span.lane === lane);
      for (const [index, span] of own.entries()) {
        expect(span.to ?? history.length).toBeGreaterThanOrEqual(span.from);
        const next = own[index + 1];
        if (next !== undefined) expect(next.from).toBeGreaterThanOrEqual(span.to ?? Number.POSITIVE_INFINITY);
      }
    }
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
    const starts = history.inputs.filter((input) => input.type === "tool-call-started");
    expect(starts.some(({ attempt }) => attempt > 1)).toBe(true);
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
