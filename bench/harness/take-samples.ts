import { setTimeout } from "node:timers/promises";
import type { Row, RowContext } from "./row.ts";

/** How thoroughly a row is measured in one process. */
export interface Effort {
  readonly warmUpMs: number;
  /** The most samples. */
  readonly samples: number;
  /** No sample begins after so many milliseconds, except the first. */
  readonly budgetMs: number;
}

/** The samples of a row from one process: for each name, in the order in which they were taken. */
export interface RowSamples {
  readonly names: readonly string[];
  readonly samples: readonly (readonly number[])[];
}

/** Measures a row. */
export async function takeSamples(
  row: Row,
  context: Omit<RowContext, "resources">,
  effort: Effort,
): Promise<RowSamples> {
  await using resources = new AsyncDisposableStack();
  const sampler = await row.prepare({ ...context, resources });
  await sampler.warmUp(effort.warmUpMs);
  // Compilation in the background may still be under way; the next warm-up uses what it has made.
  await setTimeout(100);
  await sampler.warmUp(effort.warmUpMs / 2);
  const samples: number[][] = sampler.names.map(() => []);
  const until = performance.now() + effort.budgetMs;
  for (let index = 0; index < effort.samples; index += 1) {
    if (index > 0 && performance.now() > until) break;
    const taken = await sampler.sample(index);
    for (const [at, sample] of taken.entries()) samples[at]?.push(sample);
  }
  return { names: sampler.names, samples };
}
