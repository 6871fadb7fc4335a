import type { ContextPlan } from "@moora/agent-core-state-machine";
import type { CacheBreak } from "./cache-break.ts";

const entryTexts: Readonly<Record<keyof ContextPlan["leftOut"], string>> = {
  window: "entries before the window",
  summary: "entries that a summary replaces",
  handoff: "entries of the agent that had the conversation before",
  withheld: "entries of loops that a provider refused",
};

/** The most ids of results that are listed. */
const mostIds = 10;

/** What the next request leaves out and why, for people, each with the number of entries or results. */
export function leftOutTexts({ leftOut, clearedResults }: ContextPlan): readonly string[] {
  const entries = [
    [entryTexts.window, leftOut.window] as const,
    [entryTexts.summary, leftOut.summary] as const,
    [entryTexts.handoff, leftOut.handoff] as const,
    [entryTexts.withheld, leftOut.withheld] as const,
  ].flatMap(([text, count]) => (count === 0 ? [] : [`${text}: ${count}`]));
  if (clearedResults.length === 0) return entries;
  const more = clearedResults.length - mostIds;
  const ids = clearedResults.slice(0, mostIds).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [...entries, `results that the model can load: ${clearedResults.length} (${ids})`];
}
