import type { Edit } from "../edit.ts";
import type { ToolCallDecision } from "../state.ts";
import { admit, openCallsOf, someSucceeded } from "./calls.ts";
import { move } from "./move.ts";

/** What follows when a call was answered, decided or interrupted: slots are filled again, or the round is over. */
export function continueRound(edit: Edit, decision?: ToolCallDecision["type"]): void {
  admit(edit);
  const { control } = edit.reActContext;
  const calls = openCallsOf(control);
  const asks = calls.some((call) => call.status.type === "asking");
  switch (control.type) {
    case "WaitingForHuman":
      if (!asks) move(edit, { event: humanEvent(edit, calls.length, decision) });
      return;
    case "Acting":
    case "ParallelActing":
      if (asks) move(edit, { event: "OutcomeUnknown" });
      else if (calls.length === 0) move(edit, { event: someSucceeded(edit) ? "ToolSuccess" : "ToolFailure" });
      return;
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

function humanEvent(edit: Edit, open: number, decision: ToolCallDecision["type"] | undefined): string {
  if (open === 0) return decision === "answered" ? "HumanAnswered" : "HumanRejected";
  if (open === 1) return decision === "modified" ? "HumanModified" : "HumanApproved";
  return edit.config.parallelTools ? "HumanApprovedParallel" : "HumanApproved";
}
