import { transcriptOf } from "../collections/state-lists.ts";
import type { AgentState, ContextEntry } from "../state.ts";

/** A part of the transcript that a summary replaces, or the part before a handoff, which another agent does not see. */
export type Hidden =
  | Extract<ContextEntry, { type: "summary" }>
  | { readonly type: "handoff"; readonly since: number; readonly until: number };

/**
 * The ranges that the summaries in `[from, to)` hide, except summaries that a later one hides, and the range before the last
 * handoff of the conversation.
 */
export function hiddenRanges(state: AgentState, from: number, to: number): readonly Hidden[] {
  const handoff = lastHandoff(state, from);
  return summariesIn(state, from, to, handoff >= from ? [{ type: "handoff", since: 0, until: handoff }] : []);
}

/** The ranges that the summaries in `[from, to)` hide, beside those that are hidden already. */
export function summariesIn(
  state: AgentState,
  from: number,
  to: number,
  others: readonly Hidden[] = [],
): readonly Hidden[] {
  const transcript = transcriptOf(state);
  const hidden = [...others];
  for (let index = to - 1; index >= from; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "summary" && isVisible(entry, index, hidden)) hidden.push(entry);
  }
  return hidden;
}

/** The position of the last handoff of the conversation; below `from` if there are none from there on. */
function lastHandoff(state: AgentState, from: number): number {
  // Only a session of a team has handoffs.
  if (state.activeAgent === undefined) return -1;
  const transcript = transcriptOf(state);
  let index = transcript.length - 1;
  while (index >= from && transcript.at(index)?.type !== "handoff") index -= 1;
  return index;
}

/**
 * Whether the model may see an entry: not withheld, not replaced by a summary, and not of another agent alone. User messages are
 * never hidden.
 */
export const isVisible = (entry: ContextEntry, index: number, hidden: readonly Hidden[]): boolean =>
  entry.withheld !== true &&
  (entry.type === "message" ||
    hidden.every(
      ({ type, since, until }) =>
        index < since || index >= until || (type === "handoff" && isConversation(entry)),
    ));

/** Whether an entry is a part of the conversation, and not of the work of the agent that had it. */
function isConversation(entry: ContextEntry): boolean {
  switch (entry.type) {
    case "message":
    case "summary":
      return true;
    case "turn":
      return entry.parts.every(({ type }) => type !== "call" && type !== "internal-call");
    case "tool-calls":
    case "note":
    case "handoff":
      return false;
  }
}
