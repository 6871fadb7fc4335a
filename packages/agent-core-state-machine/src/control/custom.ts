import type { Edit } from "../edit.ts";
import { callsOnEntry, failCall, unansweredIds } from "./calls.ts";
import { wording } from "../wording.ts";

/** A state of the user's own. Calls that are open when it is entered stay open through it, unless it is terminal. */
export function enterCustom(edit: Edit, name: string): undefined {
  const entry = edit.reActContext.entries + 1;
  if (edit.config.graph.terminals.includes(name))
    for (const id of unansweredIds(edit)) failCall(edit, id, "not-run", wording.leftBehind);
  edit.setContext({
    entries: entry,
    entriesSincePlan: edit.reActContext.entriesSincePlan + 1,
    control: { type: "Custom", name, entry, calls: callsOnEntry(edit) },
  });
  return undefined;
}
