/** What a turn with many tool calls at once costs in memory. */
import { atMost, timesAtMost, type Goal, type Row } from "../harness/row.ts";
import { alternating } from "../harness/ways.ts";
import { byHand } from "../loops/by-hand.ts";
import { inSession } from "../loops/moora.ts";
import { compareLoops, loopWay } from "../loops/script.ts";

const row = (calls: number, goal?: Goal): Row => ({
  name: `turn/${calls}`,
  what: `turn with ${calls.toLocaleString("en")} parallel calls in memory`,
  unit: "µs",
  ...(goal === undefined ? {} : { goal }),
  prepare: ({ peers }) => compareLoops([inSession, byHand, ...peers], { turns: 1, calls }, 1),
});

const callsOf = (calls: number): ReturnType<typeof loopWay> =>
  loopWay({ ...inSession, name: `${calls.toLocaleString("en")} calls` }, { turns: 1, calls }, calls);

export const rows: readonly Row[] = [
  row(10),
  row(100, atMost(500)),
  row(1_000),
  {
    name: "turn/flat",
    what: "call of a turn with 1,000 parallel calls",
    unit: "µs",
    goal: timesAtMost(1.3),
    prepare: () => alternating(callsOf(1_000), callsOf(10)),
  },
];
