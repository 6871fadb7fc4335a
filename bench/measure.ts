/** The median of some samples of a piece of work, in microseconds a unit. Warms up first, so that the compiler is done. */
export async function microseconds(
  units: number,
  work: () => unknown,
  { warmUp = 20, samples = 15, rounds = 1 }: { warmUp?: number; samples?: number; rounds?: number } = {},
): Promise<number> {
  for (let round = 0; round < warmUp; round += 1) await work();
  const measured: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const from = performance.now();
    for (let round = 0; round < rounds; round += 1) await work();
    measured.push(((performance.now() - from) * 1_000) / (rounds * units));
  }
  return median(measured);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** A table of text: the first column to the left, the others to the right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("   ");
  return [heads, ...rows].map(line).join("\n");
}
