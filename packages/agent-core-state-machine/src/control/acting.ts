import type { StateEdit } from "../state-edit.ts";
import { admitCalls, applyPolicy } from "./admission.ts";
import { callFlags, hasOpenCall, openCallsWith } from "../collections/open-call-list.ts";
import { callIdsOf, callsOnEntry, lastTurn, someSucceeded } from "./calls.ts";
import type { Control } from "./control.ts";
import type { AnyFiredEvent, EnterState, FiredEvent } from "./enter.ts";

/** Moves the open calls to the new state, and admits them unless an event leaves the state at once. */
function moveCalls<Fired extends AnyFiredEvent>(
  edit: StateEdit,
  control: Extract<Control, { type: "Acting" | "ParallelActing" | "WaitingForHuman" }>,
  eventOf: (edit: StateEdit) => Fired | undefined,
): Fired | undefined {
  edit.setContext({ control });
  applyPolicy(edit);
  const event = eventOf(edit);
  if (event === undefined) admitCalls(edit);
  return event;
}

type AskingEvent = "OutcomeUnknown" | "HumanApprovalRequired";

/** The event that leads from a state of running calls to `WaitingForHuman`; undefined if no call asks. */
export function askingEvent(edit: StateEdit): AskingEvent | undefined {
  let event: AskingEvent | undefined;
  for (const { status } of openCallsWith(edit.reActContext.control, callFlags.asking)) {
    if (status.type === "asking" && status.about === "outcome") return "OutcomeUnknown";
    event = "HumanApprovalRequired";
  }
  return event;
}

type ActingEvent = FiredEvent<"Acting" | "ParallelActing">;

/** The event that leaves a state of running calls: a question or the end of the batch; undefined while calls run. */
export function actingEvent(edit: StateEdit): ActingEvent | undefined {
  const asking = askingEvent(edit);
  if (asking !== undefined) return { event: asking };
  if (hasOpenCall(edit.reActContext.control)) return undefined;
  return { event: someSucceeded(edit) ? "ToolSuccess" : "ToolFailure" };
}

/** Whether all calls of the turn were settled in the custom state that precedes this one. */
const isSettledBy = (edit: StateEdit, from: string): boolean =>
  edit.config.graph.states.includes(from) && callIdsOf(lastTurn(edit)).length > 0;

const entering =
  (
    type: "Acting" | "ParallelActing",
  ): ((...entry: Parameters<EnterState<"Acting">>) => ActingEvent | undefined) =>
  (edit, _, from) => {
    const calls = callsOnEntry(edit);
    if (calls.length === 0) {
      edit.setContext({ control: { type, calls: [] } });
      if (isSettledBy(edit, from)) return { event: someSucceeded(edit) ? "ToolSuccess" : "ToolFailure" };
      const message = `${type} was entered without a call to run.`;
      return { event: "FatalError", failure: { source: "loop", kind: "NoToolCalls", message } };
    }
    return moveCalls(edit, { type, calls }, actingEvent);
  };

export const enterActing: EnterState<"Acting"> = entering("Acting");
export const enterParallelActing: EnterState<"ParallelActing"> = entering("ParallelActing");

/** Enters `WaitingForHuman`. Calls that need no approval run while the others wait for their reviewer. */
export const enterWaitingForHuman: EnterState<"WaitingForHuman"> = (edit) =>
  moveCalls(edit, { type: "WaitingForHuman", calls: callsOnEntry(edit) }, () => {
    if (askingEvent(edit) !== undefined) return undefined;
    return { event: hasOpenCall(edit.reActContext.control) ? "HumanApproved" : "HumanRejected" };
  });
