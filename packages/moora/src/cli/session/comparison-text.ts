import type { SessionDiff, Difference } from "@moora/agent";
import { differencesToText, type LineDifference } from "./line-diff.ts";
import { oneLine } from "@moora/agent-core-effects/internal";

/** The names of the two sides of a comparison. */
export interface SideNames {
  readonly a: string;
  readonly b: string;
}

/** The differences in messages, calls and answers, for people. */
export const contentText = (conversation: readonly LineDifference[], names: SideNames): readonly string[] =>
  conversation.every(({ side }) => side === "both")
    ? ["Messages, calls and answers are the same."]
    : ["Messages, calls and answers", ...differencesToText(conversation, names)];

/** The other differences of two states, or how many there are. */
export function restText(
  differences: SessionDiff["state"],
  names: SideNames,
  showsAll: boolean,
): readonly string[] {
  if (differences.length === 0) return [];
  if (showsAll) return ["All differences of the states", ...stateDifferences(differences, names)];
  const fields = differences.length === 1 ? "1 field" : `${differences.length} fields`;
  return [`The states differ in ${fields}. To show them: --all`];
}

/** Every difference of two states, for people. */
const stateDifferences = (
  differences: readonly Difference[],
  { a, b }: { readonly a: string; readonly b: string },
): readonly string[] =>
  differences.flatMap(({ path, a: left, b: right }) => [
    `  ${path}`,
    `    ${a}: ${valueToText(left)}`,
    `    ${b}: ${valueToText(right)}`,
  ]);

const valueToText = (value: unknown): string => (value === undefined ? "-" : oneLine(JSON.stringify(value)));
