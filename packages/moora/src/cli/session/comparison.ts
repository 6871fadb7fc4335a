import type { AgentState, Difference } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { diffArrays } from "diff";
import { conversationLines } from "./conversation-lines.ts";

/** A line that one side has and the other has not, or how many lines both have. */
type LineDifference =
  | { readonly side: "a" | "b"; readonly line: string }
  | { readonly side: "both"; readonly count: number };

/** Two states, with the names of the sides. */
interface Sides {
  readonly a: AgentState;
  readonly b: AgentState;
  readonly names: { readonly a: string; readonly b: string };
}

/** What differs between two states: in messages, calls and answers, in order, and as text for people. */
interface Comparison {
  readonly conversation: readonly LineDifference[];
  readonly isSame: boolean;
  /** `differences`: all of the two states, which `showsAll` lists. */
  text(differences: readonly Difference[], showsAll: boolean): readonly string[];
}

/** Above this many differences, two texts are not aligned line by line. */
const maxDifferences = 4_000;

/** Characters of a line that are shown. */
const maxShown = 300;

export function compare({ a, b, names }: Sides): Comparison {
  const conversation = diffLines(conversationLines(a), conversationLines(b));
  const isSame = conversation.every(({ side }) => side === "both");
  const content = isSame
    ? ["Messages, calls and answers are the same."]
    : ["Messages, calls and answers", ...conversation.map((difference) => lineToText(difference, names))];
  return {
    conversation,
    isSame,
    text: (differences, showsAll) => [...content, ...restText(differences, names, showsAll)],
  };
}

/** The differences of two texts, line by line, in order. Lines that both have are only counted. */
export function diffLines(a: readonly string[], b: readonly string[]): readonly LineDifference[] {
  const only = (side: "a" | "b", lines: readonly string[]): readonly LineDifference[] =>
    lines.map((line) => ({ side, line }));
  const parts = diffArrays([...a], [...b], { maxEditLength: maxDifferences });
  if (parts === undefined) return [...only("a", a), ...only("b", b)];
  return parts.flatMap(({ value, added, removed }): readonly LineDifference[] =>
    added || removed ? only(added ? "b" : "a", value) : [{ side: "both", count: value.length }],
  );
}

function lineToText(difference: LineDifference, names: Sides["names"]): string {
  if (difference.side === "both")
    return `  (${difference.count} ${difference.count === 1 ? "entry is" : "entries are"} the same)`;
  const width = Math.max(names.a.length, names.b.length);
  return `  ${names[difference.side].padEnd(width)}  ${oneLine(difference.line, maxShown)}`;
}

/** The other differences of two states, or how many there are. */
function restText(
  differences: readonly Difference[],
  names: Sides["names"],
  showsAll: boolean,
): readonly string[] {
  if (differences.length === 0) return [];
  const fields = differences.length === 1 ? "1 field" : `${differences.length} fields`;
  if (!showsAll) return [`The states differ in ${fields}. To show them: --all`];
  const rows = differences.flatMap(({ path, a, b }) => [
    `  ${path}`,
    `    ${names.a}: ${valueToText(a)}`,
    `    ${names.b}: ${valueToText(b)}`,
  ]);
  return ["All differences of the states", ...rows];
}

const valueToText = (value: unknown): string => (value === undefined ? "-" : oneLine(JSON.stringify(value)));
