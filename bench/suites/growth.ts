/** How much more a step costs in a long run than in a short one. */
import { compareLoops, type LoopChoice } from "../harness/loop-ways.ts";
import { timesAtMost, type Row } from "../harness/row.ts";

const [short, long] = [10, 1_000];

const stepsOf = (loop: string, steps: number): LoopChoice => ({
  name: `${steps.toLocaleString("en")} steps`,
  loop,
  script: { turns: steps, calls: 1 },
  units: steps,
});

const row = (loop: string, what: string): Row => ({
  name: `growth/${loop}`,
  what,
  unit: "µs",
  goal: timesAtMost(1.3),
  prepare: (context) => compareLoops(context, [stepsOf(loop, long), stepsOf(loop, short)]),
});

export const rows: readonly Row[] = [
  row("session", "step of a session of 1,000 steps"),
  row("reducer", "step by reducer and effects alone, 1,000 steps"),
];
