import { runBench } from "@moora/testbed/run-bench";
import { expect, it } from "vitest";

it("is measured by the benchmark of the inspector, run with small numbers", async () => {
  const small = ["--records", "700", "--openings", "1", "--steps", "3", "--frames", "5", "--searches", "1"];
  const lines = await runBench("inspector", small);
  expect(lines[0]).toBe("700 records, milliseconds");
  const rows = lines.slice(3, -1).map((line) => line.split(/ {2,}/));
  const [time, longTasks] = [/^\d+\.\d$/, /^(\d+\.\d|-)$/];
  const counts: Readonly<Record<string, string | undefined>> = {
    "first paint, page without a session": "1",
    "first paint, page with the session": "1",
    "session is open, from the navigation": "1",
    "session is open, from the choice of a file": "1",
    // As many as the machine makes.
    "long tasks while it opens": undefined,
    "step to any record, Graph": "3",
    "step to any record, State": "3",
    "step to any record, Request": "3",
    "frame of a drag through the session": "5",
    "long tasks of all steps and the drag": undefined,
    'search for "lamp, model 9876."': "1",
    'search for "no such text"': "1",
    'search for "tool:look"': "1",
    'search for "is:failure"': "1",
  };
  expect(rows.map(([what]) => what)).toEqual(Object.keys(counts));
  for (const [what = "", count, ...times] of rows) {
    expect(count, what).toBe(counts[what] ?? count);
    expect(times, what).toHaveLength(3);
    for (const one of times) expect(one, what).toMatch(counts[what] === undefined ? longTasks : time);
  }
  expect(lines.at(-1)).toMatch(/^\d+ cores, Node v[\d.]+, load [\d.]+ at the end\.$/);
});
