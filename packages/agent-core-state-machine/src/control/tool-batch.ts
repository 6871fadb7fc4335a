import type { StateEdit } from "../state-edit.ts";
import type { ToolCallDecision } from "../state.ts";
import { actingEvent, askingEvent } from "./acting.ts";
import { admitCalls } from "./admission.ts";
import { openCallsOf } from "../collections/open-call-list.ts";
import type { FiredEvent } from "./enter.ts";
import { move } from "./move.ts";

/**
 * Continues a batch after a call was settled, decided or interrupted: fills the free slots, or leaves the state. Calls are
 * admitted by the state that the batch enters, so that a custom state in between can keep them from running.
 */
export function advanceBatch(edit: StateEdit, decision?: ToolCallDecision["type"]): void {
  const { control } = edit.reActContext;
  switch (control.type) {
    case "WaitingForHuman": {
      if (askingEvent(edit) !== undefined) return admitCalls(edit);
      return move<"WaitingForHuman">(edit, {
        event: humanEvent(edit, openCallsOf(control).length, decision),
      });
    }
    case "Acting":
    case "ParallelActing": {
      const fired = actingEvent(edit);
      return fired === undefined ? admitCalls(edit) : move<"Acting" | "ParallelActing">(edit, fired);
    }
    case "Idle":
    case "Planning":
    case "Observing":
    case "Reflecting":
    case "Done":
    case "Error":
    case "Custom":
      return;
  }
}

function humanEvent(
  edit: StateEdit,
  open: number,
  decision: ToolCallDecision["type"] | undefined,
): Exclude<FiredEvent<"WaitingForHuman">["event"], "Cancelled"> {
  if (open === 0) return decision === "answered" || decision === "worked" ? "HumanAnswered" : "HumanRejected";
  if (open === 1) return decision === "modified" ? "HumanModified" : "HumanApproved";
  return edit.config.toolCalls.parallel ? "HumanApprovedParallel" : "HumanApproved";
}
