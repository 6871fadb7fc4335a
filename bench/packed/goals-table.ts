import type { Goal } from "../harness/row.ts";
import { figureOf, ratioOf } from "../harness/statistics.ts";
import { table } from "../harness/table.ts";
import type { MeasuredRow } from "./run-suites.ts";

const heads = ["row", "", "ours", "", "compared with", "", "", "ratio", "goal", "met"];
const toTheRight = [2, 3, 5, 6, 7, 8];

/** A number with about three significant digits. */
const numberText = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));

/** The figure of some samples, and how far they spread. */
function figureTexts(samples: readonly number[], unit: string): readonly [string, string] {
  const { median, spread } = figureOf(samples);
  return [`${numberText(median)} ${unit}`, samples.length > 1 ? `±${Math.round(spread * 100)}%` : ""];
}

const signs: Readonly<Record<Goal["type"], string>> = { "at-most": "≤", "at-least": "≥", times: "≤" };

const goalText = ({ type, value }: Goal, unit: string): string =>
  `${signs[type]} ${value.toLocaleString("en")} ${type === "times" ? "times" : unit}`;

/** Whether the goal of a row is met; undefined for a row without a goal or without samples. */
function isMet({ goal, samples: [ours = [], other = []], failure }: MeasuredRow): boolean | undefined {
  if (goal === null) return undefined;
  if (failure !== undefined) return false;
  if (goal.type === "times") return ratioOf(ours, other) <= goal.value;
  const { median } = figureOf(ours);
  return goal.type === "at-most" ? median <= goal.value : median >= goal.value;
}

/** Of no goal: nothing. */
const metText = (met: boolean | undefined): string => {
  if (met === undefined) return "";
  return met ? "yes" : "NO";
};

function rowLines(row: MeasuredRow): readonly (readonly string[])[] {
  const { name, what, unit, goal, names, samples, failure } = row;
  const [ours = [], ...others] = samples;
  const goalCells = [goal === null ? "" : goalText(goal, unit), metText(isMet(row))];
  if (failure !== undefined) return [[name, what, "", "", failure, "", "", "", ...goalCells]];
  const compared = others.map((other, at) => [
    names[at + 1] ?? "",
    ...figureTexts(other, unit),
    numberText(ratioOf(ours, other)),
  ]);
  const [first = ["", "", "", ""], ...rest] = compared;
  return [
    [name, what, ...figureTexts(ours, unit), ...first, ...goalCells],
    ...rest.map((cells) => ["", "", "", "", ...cells]),
  ];
}

/** The table of the goals: a line for each row, and one for each further way that it compares. */
export function goalsTable(rows: readonly MeasuredRow[]): string {
  const verdicts = rows.map(isMet).filter((verdict) => verdict !== undefined);
  const met = verdicts.filter(Boolean).length;
  const text = table(heads, rows.flatMap(rowLines), toTheRight);
  return `${text}\n\n${met} of ${verdicts.length} goals are met. Sizes of bundles: pnpm run sizes.`;
}
