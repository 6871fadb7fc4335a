import type { Choose } from "../choose.ts";

/** One of some items, each as likely as the others. Throws for an empty list. */
export const oneOf = <T>(choose: Choose, items: readonly T[]): T => {
  const item = items[choose(items.length)];
  if (item === undefined) throw new RangeError("Cannot choose from an empty list.");
  return item;
};

/** One of some rows, each as likely as its weight, in tenths. Throws where the weights are all 0. */
export function weighted<T>(choose: Choose, rows: readonly (readonly [weight: number, item: T])[]): T {
  let left = choose(rows.reduce((sum, [weight]) => sum + tenths(weight), 0));
  for (const [weight, item] of rows) {
    if (left < tenths(weight)) return item;
    left -= tenths(weight);
  }
  throw new RangeError("Cannot choose from an empty list.");
}

const tenths = (weight: number): number => Math.round(weight * 10);
