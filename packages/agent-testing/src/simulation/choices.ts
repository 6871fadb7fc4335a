import type { Choose } from "../draw-input.ts";

/** The choices of one simulated session: those of its setting, then those of each thing that happened. */
export type ChoiceScript = readonly (readonly number[])[];

/** Choices that were made, step by step, so that they can be made again, and steps be left out. */
export interface Choices {
  readonly choose: Choose;
  readonly made: ChoiceScript;
  /** Begins the next step. */
  next(): void;
}

/** Makes the choices of a script, or of another source where there is none, and records them. */
export function choicesFrom(source: Choose | ChoiceScript): Choices {
  const made: number[][] = [[]];
  let at = 0;
  const scripted = (count: number): number =>
    typeof source === "function" ? source(count) : (source[made.length - 1]?.[at] ?? 0) % Math.max(count, 1);
  return {
    made,
    choose(count) {
      const choice = scripted(count);
      at += 1;
      made.at(-1)?.push(choice);
      return choice;
    },
    next() {
      made.push([]);
      at = 0;
    },
  };
}

export const oneOf = <T>(choose: Choose, items: readonly T[]): T => {
  const item = items[choose(items.length)];
  if (item === undefined) throw new RangeError("There is nothing to choose from.");
  return item;
};

/** One of some rows, each as likely as its weight. */
export function weighted<T>(choose: Choose, rows: readonly (readonly [weight: number, item: T])[]): T {
  let left = choose(rows.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, item] of rows) {
    if (left < weight) return item;
    left -= weight;
  }
  throw new RangeError("There is nothing to choose from.");
}
