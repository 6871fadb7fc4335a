/** How much more a step costs in a long run than in a short one. */
import { timesAtMost, type Row } from "../harness/row.ts";
import { alternating } from "../harness/ways.ts";
import { byReducer, inSession } from "../loops/moora.ts";
import { loopWay, type NamedLoop } from "../loops/script.ts";

const [short, long] = [10, 1_000];

const stepsOf = (loop: NamedLoop, steps: number): ReturnType<typeof loopWay> =>
  loopWay(
    { ...loop, name: `${steps.toLocaleString("en")} steps` },
    { turns: steps, calls: 1 },
    steps,
  );

const row = (name: string, what: string, loop: NamedLoop): Row => ({
  name: `growth/${name}`,
  what,
  unit: "µs",
  goal: timesAtMost(1.3),
  prepare: () => alternating(stepsOf(loop, long), stepsOf(loop, short)),
});

export const rows: readonly Row[] = [
  row("session", "step of a session of 1,000 steps", inSession),
  row("reducer", "step by reducer and effects alone, 1,000 steps", byReducer),
];
