/** What a turn with many tool calls at once costs in a log. */
import { timesAtMost, type Row } from "../harness/row.ts";
import { compareDurable } from "../stores/durable-ways.ts";
import { storeTitles, type StoreName } from "../stores/stores.ts";

const calls = 100;

const row = (store: StoreName): Row => ({
  name: `durable-turn/${store}`,
  what: `turn with ${calls} parallel calls, ${storeTitles[store]}`,
  unit: "µs",
  goal: timesAtMost(1.5),
  prepare: (context) => compareDurable(store, context, { turns: 1, calls }, 1),
});

export const rows: readonly Row[] = [
  row("sqlite"),
  row("sqlite-relaxed"),
  row("jsonl"),
  row("jsonl-relaxed"),
];
