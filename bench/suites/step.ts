/** What a step costs in memory: a model call and a tool call, answered at once. */
import { atMost, type Row } from "../harness/row.ts";
import { byHand } from "../loops/by-hand.ts";
import { inSession } from "../loops/moora.ts";
import { compareLoops } from "../loops/script.ts";

const row = (steps: number, mostUs: number): Row => ({
  name: `step/${steps}`,
  what: `step of a session in memory, ${steps.toLocaleString("en")} steps`,
  unit: "µs",
  goal: atMost(mostUs),
  prepare: ({ peers }) => compareLoops([inSession, byHand, ...peers], { turns: steps, calls: 1 }, steps),
});

export const rows: readonly Row[] = [row(10, 15), row(100, 15), row(1_000, 20)];
