import { transcriptOf } from "../collections/state-lists.ts";
import type { AgentState, ContextEntry } from "../state.ts";

/** The entries of the current loop. The cost depends on its length. */
export const loopEntries = (state: AgentState): readonly ContextEntry[] =>
  transcriptOf(state).slice(state.reActContext.loopStart);

/** The entry of the user message that started the current loop; undefined before the first loop. */
export const taskEntryOf = (state: AgentState): Extract<ContextEntry, { type: "message" }> | undefined =>
  loopEntries(state).find((entry) => entry.type === "message");
