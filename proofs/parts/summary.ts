/** The result of a proof, as its last line says it. */
export interface Summary {
  readonly proof: string;
  readonly cases: number;
  readonly failures: number;
  readonly [more: string]: number | string;
}

/** The same with the time that it took. */
export interface Conclusion extends Summary {
  readonly seconds: number;
}

/** Prints the last line of a proof, and makes its process fail where something failed. */
export function conclude(summary: Summary, startedAt: number): void {
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  console.log(JSON.stringify({ ...summary, seconds }));
  if (summary.failures > 0) process.exitCode = 1;
}
