import { describe, expect, it } from "vitest";
import type { Row } from "../bench/harness/row.ts";
import { figureOf, ratioOf } from "../bench/harness/statistics.ts";
import { isSelected, rowsOf, suiteNames } from "../bench/harness/suites.ts";
import { takeSamples } from "../bench/harness/take-samples.ts";
import { alternating, type Way } from "../bench/harness/ways.ts";
import { byHand } from "../bench/loops/by-hand.ts";
import { byReducer, inSession } from "../bench/loops/moora.ts";
import { addOne, checkedRun, type Implementation } from "../bench/loops/script.ts";
import { goalsTable } from "../bench/packed/goals-table.ts";
import type { MeasuredRow } from "../bench/packed/run-suites.ts";

const context = { directory: "", postgres: "There is none.", peers: "" };
const effort = { warmUpMs: 0, samples: 3, budgetMs: Infinity };

describe("the harness of the benchmarks", () => {
  it("takes samples forward and backward, so that noise meets all ways alike", async () => {
    const order: string[] = [];
    const wayOf = (name: string, sample: number): Way => ({
      name,
      warmUp: () => Promise.resolve(),
      sample() {
        order.push(name);
        return Promise.resolve(sample);
      },
    });
    const row: Row = {
      name: "suite/row",
      what: "",
      unit: "µs",
      prepare: () => alternating(wayOf("ours", 3), wayOf("floor", 2)),
    };
    const { names, samples } = await takeSamples(row, context, effort);
    expect(order).toEqual(["ours", "floor", "floor", "ours", "ours", "floor"]);
    expect({ names, samples }).toEqual({
      names: ["ours", "floor"],
      samples: [
        [3, 3, 3],
        [2, 2, 2],
      ],
    });
  });

  it("releases what a row has opened, also when it fails", async () => {
    let isReleased = false;
    const row: Row = {
      name: "suite/row",
      what: "",
      unit: "µs",
      prepare({ resources }) {
        resources.defer(() => {
          isReleased = true;
        });
        throw new Error("The disk is full.");
      },
    };
    await expect(takeSamples(row, context, effort)).rejects.toThrow("The disk is full.");
    expect(isReleased).toBe(true);
  });

  it("reports the median, half the distance of the quartiles, and the median of the ratios of neighbors", () => {
    expect(figureOf([1, 2, 3, 4, 100])).toEqual({ median: 3, spread: 1 / 3 });
    // A load that doubles both samples of a pair does not change their ratio.
    expect(ratioOf([2, 4, 6], [1, 2, 3])).toBe(2);
  });

  it.each([inSession, byReducer, byHand])("runs the script of a benchmark: $name", async ({ implement }) => {
    for (const script of [
      { turns: 3, calls: 1 },
      { turns: 1, calls: 4 },
    ]) {
      const run = checkedRun(implement, script);
      await run();
      await run();
    }
  });

  it("fails for a loop that makes other calls than its script", async () => {
    const lazy: Implementation = (_script, counter) => () => {
      counter.models += 1;
      addOne(counter, 1);
    };
    expect(checkedRun(lazy, { turns: 2, calls: 1 })).toThrow(
      "A run of 2 turns with 1 calls made 1 model calls with 0 messages and 1 tool calls.",
    );
  });
});

describe("the rows of the benchmarks", () => {
  it("are named for their suite, each with a name of its own", async () => {
    const names: string[] = [];
    for (const suite of suiteNames) {
      for (const { name } of await rowsOf(suite)) {
        expect(name.startsWith(`${suite}/`), name).toBe(true);
        names.push(name);
      }
    }
    expect(new Set(names).size).toBe(names.length);
  });

  it("are selected by the name of a row or of a suite, and all of them without a name", () => {
    expect(isSelected("step/10", [])).toBe(true);
    expect(isSelected("step/10", ["turn", "step"])).toBe(true);
    expect(isSelected("step/10", ["step/10"])).toBe(true);
    expect(isSelected("step/100", ["step/10"])).toBe(false);
    expect(isSelected("durable-step/sqlite", ["step"])).toBe(false);
  });
});

describe("the table of the goals", () => {
  const rowOf = (row: Partial<MeasuredRow>): MeasuredRow => ({
    name: "suite/row",
    what: "what",
    unit: "µs",
    goal: null,
    names: ["ours", "by hand"],
    samples: [[12], [10]],
    ...row,
  });
  const verdictOf = (row: Partial<MeasuredRow>): string =>
    goalsTable([rowOf(row)])
      .split("\n")[1]
      ?.split(" ")
      .at(-1) ?? "";

  it("says whether each goal is met", () => {
    expect(verdictOf({ goal: { type: "at-most", value: 12 } })).toBe("yes");
    expect(verdictOf({ goal: { type: "at-most", value: 11 } })).toBe("NO");
    expect(verdictOf({ goal: { type: "at-least", value: 13 } })).toBe("NO");
    expect(verdictOf({ goal: { type: "times", value: 1.2 } })).toBe("yes");
    expect(verdictOf({ goal: { type: "times", value: 1.1 } })).toBe("NO");
  });

  it("shows every way, and why a row could not be measured", () => {
    const names = ["ours", "by hand", "another library"];
    const compared = goalsTable([rowOf({ names, samples: [[12], [10], [6]] })]);
    expect(compared).toMatch(/by hand +10 µs +1\.2\n +another library +6 µs +2\n/);
    const failed = goalsTable([
      rowOf({ goal: { type: "times", value: 2 }, failure: "PostgreSQL cannot be started.", samples: [] }),
    ]);
    expect(failed).toContain("PostgreSQL cannot be started.");
    expect(failed).toContain("0 of 1 goals are met.");
  });
});
