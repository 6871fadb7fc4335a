/** What a step costs in memory: a model call and a tool call, answered at once. */
import { compareLoops } from "../harness/loop-ways.ts";
import { installedLoops } from "../harness/peer-loader.ts";
import { atMost, type Row } from "../harness/row.ts";

const row = (steps: number, mostUs: number): Row => ({
  name: `step/${steps}`,
  what: `step of a session in memory, ${steps.toLocaleString("en")} steps`,
  unit: "µs",
  goal: atMost(mostUs),
  prepare(context) {
    const loops = ["session", "by hand", ...installedLoops(context.peers)];
    const script = { turns: steps, calls: 1 };
    return compareLoops(
      context,
      loops.map((loop) => ({ loop, script, units: steps })),
    );
  },
});

export const rows: readonly Row[] = [row(10, 15), row(100, 15), row(1_000, 20)];
