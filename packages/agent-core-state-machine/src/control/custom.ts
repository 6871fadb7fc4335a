import type { StateEdit } from "../state-edit.ts";
import { abandonCall, callsOnEntry, unansweredIds } from "./calls.ts";
import type { ControlOf } from "./control.ts";
import type { FiredEvent } from "./enter.ts";

/** A state of the user's own. Calls that are open when it is entered stay open through it, unless it is terminal. */
export function enterCustom(edit: StateEdit, name: string, event: string): undefined {
  const entry = edit.reActContext.entries + 1;
  if (edit.config.graph.terminals.includes(name))
    for (const id of unansweredIds(edit)) abandonCall(edit, id, "The agent moved on without it.");
  edit.setContext({
    entries: entry,
    entriesSincePlan: edit.reActContext.entriesSincePlan + 1,
    control: { type: "Custom", name, entry, event, attempt: 1, started: false, calls: callsOnEntry(edit) },
  });
  return undefined;
}

/**
 * What becomes of a handler that was interrupted after it had started. By the replay policy of its state: `safe` and
 * `keyed` run again, `once` never does. Gives the event that leaves the state where it does not run again.
 */
export function interruptHandler(edit: StateEdit, control: ControlOf<"Custom">): FiredEvent | undefined {
  const { name, attempt } = control;
  const { replay } = edit.config.graph;
  const policy = replay !== undefined && Object.hasOwn(replay, name) ? replay[name] : "once";
  if (policy !== "once" && attempt < edit.config.maxToolAttempts) {
    edit.setContext({ control: { ...control, attempt: attempt + 1, started: false } });
    return undefined;
  }
  const why = policy === "once" ? "and must not run again" : `in each of ${attempt} attempts`;
  const detail = `The handler of the state ${name} was interrupted ${why}; it may have had its effect.`;
  return { event: "HandlerInterrupted", detail };
}
