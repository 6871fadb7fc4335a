import { oneLine } from "@moora/agent-core-effects/internal";

/** A line that one side has and the other has not, or how many lines both have. */
export type LineDifference =
  | { readonly side: "a" | "b"; readonly line: string }
  | { readonly side: "both"; readonly count: number };

type Lines = readonly string[];

/** Above this many comparisons, two texts are not aligned line by line. */
const maxComparisons = 4_000_000;

/** Characters of a line that are shown. */
const maxShown = 300;

/** The differences of two texts, line by line, in order. Lines that both have are only counted. */
export function diffLines(a: Lines, b: Lines): readonly LineDifference[] {
  const start = commonStart(a, b);
  const end = commonStart(a.slice(start).toReversed(), b.slice(start).toReversed());
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return [...both(start), ...aligned(left, right), ...both(end)];
}

const both = (count: number): readonly LineDifference[] => (count === 0 ? [] : [{ side: "both", count }]);

function commonStart(a: Lines, b: Lines): number {
  const firstDifference = a.findIndex((line, at) => line !== b[at]);
  return firstDifference < 0 ? a.length : firstDifference;
}

/** Pairs as many equal lines as possible. */
function aligned(a: Lines, b: Lines): readonly LineDifference[] {
  if (a.length * b.length > maxComparisons) return [...only("a", a), ...only("b", b)];
  const lengths = commonLengths(a, b);
  const found: LineDifference[] = [];
  let [at, other] = [0, 0];
  while (at < a.length && other < b.length) {
    const count = commonStart(a.slice(at), b.slice(other));
    if (count > 0) found.push({ side: "both", count });
    else if ((lengths[at + 1]?.[other] ?? 0) >= (lengths[at]?.[other + 1] ?? 0))
      found.push(...only("a", a.slice(at, at + 1)));
    else found.push(...only("b", b.slice(other, other + 1)));
    const last = found.at(-1);
    at += count + (last?.side === "a" ? 1 : 0);
    other += count + (last?.side === "b" ? 1 : 0);
  }
  return [...found, ...only("a", a.slice(at)), ...only("b", b.slice(other))];
}

const only = (side: "a" | "b", lines: Lines): readonly LineDifference[] =>
  lines.map((line) => ({ side, line }));

/** How many lines both texts have in common, from each pair of positions to the ends. */
function commonLengths(a: Lines, b: Lines): readonly (readonly number[])[] {
  const rows = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let at = a.length - 1; at >= 0; at -= 1) {
    const [row = [], below = []] = [rows[at], rows[at + 1]];
    for (let other = b.length - 1; other >= 0; other -= 1) {
      row[other] =
        a[at] === b[other] ? (below[other + 1] ?? 0) + 1 : Math.max(below[other] ?? 0, row[other + 1] ?? 0);
    }
  }
  return rows;
}

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
