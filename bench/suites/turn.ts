/** What a turn with many tool calls at once costs in memory. */
import { compareLoops, type LoopChoice } from "../harness/loop-ways.ts";
import { installedLoops } from "../harness/peer-loader.ts";
import { atMost, timesAtMost, type Goal, type Row } from "../harness/row.ts";

const row = (calls: number, goal?: Goal): Row => ({
  name: `turn/${calls}`,
  what: `turn with ${calls.toLocaleString("en")} parallel calls in memory`,
  unit: "µs",
  ...(goal === undefined ? {} : { goal }),
  prepare(context) {
    const loops = ["session", "by hand", ...installedLoops(context.peers)];
    return compareLoops(
      context,
      loops.map((loop) => ({ loop, script: { turns: 1, calls }, units: 1 })),
    );
  },
});

const callsOf = (calls: number): LoopChoice => ({
  name: `${calls.toLocaleString("en")} calls`,
  loop: "session",
  script: { turns: 1, calls },
  units: calls,
});

export const rows: readonly Row[] = [
  row(10),
  row(100, atMost(500)),
  row(1_000),
  {
    name: "turn/flat",
    what: "call of a turn with 1,000 parallel calls",
    unit: "µs",
    goal: timesAtMost(1.3),
    prepare: (context) => compareLoops(context, [callsOf(1_000), callsOf(10)]),
  },
];
