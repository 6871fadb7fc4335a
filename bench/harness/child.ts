/** The process of a suite: measures its rows one after the other, and sends each to the process that started it. */
import type { Goal, Row, RowContext } from "./row.ts";
import { isSelected, rowsOf, type SuiteName } from "./suites.ts";
import { takeSamples, type Effort, type RowSamples } from "./take-samples.ts";

/** What the process is started with, as JSON in its first argument. */
export interface ChildOptions extends Omit<RowContext, "resources"> {
  readonly suite: SuiteName;
  readonly selection: readonly string[];
  readonly effort: Effort;
}

/** A row as it is sent; `result` is a text if the row failed. */
export interface ChildRow extends Pick<Row, "name" | "what" | "unit"> {
  readonly goal: Goal | null;
  readonly result: RowSamples | string;
}

async function main(): Promise<void> {
  const options: ChildOptions = JSON.parse(process.argv[2] ?? "");
  const { suite, selection, effort, ...context } = options;
  for (const row of await rowsOf(suite)) {
    if (!isSelected(row.name, selection)) continue;
    const { name, what, unit, goal = null } = row;
    const result = await takeSamples(row, context, effort).catch((error: unknown) => String(error));
    const message: ChildRow = { name, what, unit, goal, result };
    await new Promise((resolve) => process.send?.(message, resolve));
  }
}

if (import.meta.main) {
  await main();
  process.disconnect();
}
