import { diffArrays } from "diff";
import { oneLine } from "@moora/agent-core-effects/internal";

/** A line that one side has and the other has not, or how many lines both have. */
export type LineDifference =
  | { readonly side: "a" | "b"; readonly line: string }
  | { readonly side: "both"; readonly count: number };

type Lines = readonly string[];

/** Above this many differences, two texts are not aligned line by line. */
const maxDifferences = 4_000;

/** Characters of a line that are shown. */
const maxShown = 300;

/** The differences of two texts, line by line, in order. Lines that both have are only counted. */
export function diffLines(a: Lines, b: Lines): readonly LineDifference[] {
  const parts = diffArrays([...a], [...b], { maxEditLength: maxDifferences });
  if (parts === undefined) return [...only("a", a), ...only("b", b)];
  return parts.flatMap(({ value, added, removed }): readonly LineDifference[] =>
    added || removed ? only(added ? "b" : "a", value) : [{ side: "both", count: value.length }],
  );
}

const only = (side: "a" | "b", lines: Lines): readonly LineDifference[] =>
  lines.map((line) => ({ side, line }));

/** The differences for people, the sides by their names. */
export function differencesToText(
  differences: readonly LineDifference[],
  names: { readonly a: string; readonly b: string },
): Lines {
  const width = Math.max(names.a.length, names.b.length);
  return differences.map((difference) =>
    difference.side === "both"
      ? `  (${difference.count} ${difference.count === 1 ? "entry is" : "entries are"} the same)`
      : `  ${names[difference.side].padEnd(width)}  ${oneLine(difference.line, maxShown)}`,
  );
}
