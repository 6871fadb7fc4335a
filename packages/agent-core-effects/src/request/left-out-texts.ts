import type { ContextPlan } from "@moora/agent-core-state-machine";

const entryTexts: readonly (readonly [keyof ContextPlan["leftOut"], string])[] = [
  ["window", "entries before the window"],
  ["summary", "entries that a summary replaces"],
  ["handoff", "entries of the agent that had the conversation before"],
  ["withheld", "entries of exchanges that a provider refused"],
];

/** The most ids of results, and names of tools, that are listed. */
const mostIds = 10;

/** What a request leaves out and why, for people. */
export function leftOutTexts({ leftOut, clearedResults: ids, tools }: ContextPlan): readonly string[] {
  const entries = entryTexts.flatMap(([why, text]) =>
    leftOut[why] === 0 ? [] : [`${text}: ${leftOut[why]}`],
  );
  const results = ids.length === 0 ? [] : [`results that the model can load again: ${listed(ids)}`];
  if (tools === undefined) return [...entries, ...results];
  const found = tools.found.length === 0 ? "none yet" : listed(tools.found);
  return [...entries, ...results, `tools that the model can search: ${tools.hidden.length}; found: ${found}`];
}

function listed(names: readonly string[]): string {
  const more = names.length > mostIds ? [`and ${names.length - mostIds} more`] : [];
  return `${names.length} (${[...names.slice(0, mostIds), ...more].join(", ")})`;
}
