import type { ContextPlan } from "@moora/agent-core-state-machine";

const entryTexts: readonly (readonly [keyof ContextPlan["leftOut"], string])[] = [
  ["window", "entries before the window"],
  ["summary", "entries that a summary replaces"],
  ["handoff", "entries of the agent that had the conversation before"],
  ["withheld", "entries of exchanges that a provider refused"],
];

/** The most ids of results that are listed. */
const mostIds = 10;

/** What a request leaves out and why, for people. */
export function leftOutTexts({ leftOut, clearedResults: ids }: ContextPlan): readonly string[] {
  const entries = entryTexts.flatMap(([why, text]) =>
    leftOut[why] === 0 ? [] : [`${text}: ${leftOut[why]}`],
  );
  if (ids.length === 0) return entries;
  const listed = ids.length > mostIds ? [...ids.slice(0, mostIds), `and ${ids.length - mostIds} more`] : ids;
  return [...entries, `results that the model can load again: ${ids.length} (${listed.join(", ")})`];
}
