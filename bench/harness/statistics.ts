/** The value below which a part of the values lies, between the two nearest ones; NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** The middle of some samples, and how far they spread: half the distance of the quartiles, as a part of the middle. */
export interface Figure {
  readonly median: number;
  readonly spread: number;
}

export function figureOf(samples: readonly number[]): Figure {
  const median = quantile(samples, 0.5);
  return { median, spread: (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median };
}

/** The median of the ratios of samples that were taken next to each other. */
export const ratioOf = (ours: readonly number[], others: readonly number[]): number =>
  quantile(
    ours.map((sample, index) => sample / (others[index] ?? Number.NaN)),
    0.5,
  );
