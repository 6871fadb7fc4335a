import type { AgentState, ContextEntry } from "@moora/agent-core-state-machine";

/** The entries of `[from, to)` that the model may see, each with its index: not withheld, not hidden by a summary. */
export function visibleEntries(
  { transcript }: AgentState,
  from: number,
  to: number,
): readonly { readonly index: number; readonly entry: ContextEntry }[] {
  const visible: { index: number; entry: ContextEntry }[] = [];
  const hidden: { since: number; until: number }[] = [];
  for (let index = to - 1; index >= from; index -= 1) {
    const entry = transcript[index];
    if (entry === undefined || entry.withheld === true) continue;
    const covered =
      entry.type !== "message" && hidden.some(({ since, until }) => since <= index && index < until);
    if (covered) continue;
    visible.push({ index, entry });
    if (entry.type === "summary") hidden.push(entry);
  }
  return visible.toReversed();
}
