/** What a step costs in a log: from the message of a user to the answer, over 200 steps. */
import { timesAtMost, type Row } from "../harness/row.ts";
import { compareDurable } from "../stores/durable-ways.ts";
import { storeTitles, type StoreName } from "../stores/stores.ts";

const steps = 200;

const row = (store: StoreName, mostTimes: number): Row => ({
  name: `durable-step/${store}`,
  what: `durable step, ${storeTitles[store]}`,
  unit: "µs",
  goal: timesAtMost(mostTimes),
  prepare: (context) => compareDurable(store, context, { turns: steps, calls: 1 }, steps),
});

export const rows: readonly Row[] = [
  row("sqlite", 1.3),
  row("jsonl", 1.3),
  row("postgres", 1.3),
  row("sqlite-relaxed", 3),
  row("jsonl-relaxed", 3),
];
