import type { AgentState, ContextEntry } from "@moora/agent-core-state-machine";
import { transcriptOf } from "@moora/agent-core-state-machine/internal";

/** A part of the transcript that a summary replaces. */
export interface Hidden {
  readonly since: number;
  readonly until: number;
}

/** The ranges that the summaries in `[from, to)` hide, except summaries that a later one hides. */
export function hiddenBySummaries(state: AgentState, from: number, to: number): readonly Hidden[] {
  const transcript = transcriptOf(state);
  const hidden: Hidden[] = [];
  for (let index = to - 1; index >= from; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "summary" && isVisible(entry, index, hidden)) hidden.push(entry);
  }
  return hidden;
}

/** Whether the model may see an entry: not withheld, and not replaced by a summary. User messages are never hidden. */
export const isVisible = (entry: ContextEntry, index: number, hidden: readonly Hidden[]): boolean =>
  entry.withheld !== true &&
  (entry.type === "message" || hidden.every(({ since, until }) => index < since || index >= until));
