import type { StateEdit } from "../state-edit.ts";
import type { AgentFailure } from "../failure.ts";
import { enterActing, enterParallelActing, enterWaitingForHuman } from "./acting.ts";
import { enterCustom } from "./custom.ts";
import { enterDone, enterError } from "./done-and-error.ts";
import { controlName, type AnyFiredEvent, type EnterState, type FiredEvent } from "./enter.ts";
import { callsAt } from "../memory.ts";
import { enterObserving } from "./observing.ts";
import { enterPlanning } from "./planning.ts";
import { enterReflecting } from "./reflecting.ts";
import type { ControlType } from "./control.ts";
import { isBuiltInState, nextStateName, type BuiltInState, type ControlEvent } from "./transition-table.ts";

/** The maximum number of moves for one input. More are a cycle in custom rows: built-in paths have up to five. */
export const maxMovesPerInput = 64;

const enter: { readonly [State in BuiltInState]: EnterState<State> } = {
  Idle: () => undefined,
  Planning: enterPlanning,
  WaitingForHuman: enterWaitingForHuman,
  Acting: enterActing,
  ParallelActing: enterParallelActing,
  Observing: enterObserving,
  Reflecting: enterReflecting,
  Done: enterDone,
  Error: enterError,
};

/** The maximum number of entries into custom states without a plan between them. */
export const maxEntriesWithoutPlan = 1_000;

/** Fires an event of the table from a state: `move<"Planning">(edit, { event: "LlmFinalAnswer" })`. */
export const move: <State extends ControlType>(edit: StateEdit, fired: FiredEvent<State>) => void = moveBy;

/** Fires any event and follows the edges until no event fires. A pair without a row ends the loop as InvalidTransition. */
export function moveBy(edit: StateEdit, first: AnyFiredEvent): void {
  let fired: AnyFiredEvent | undefined = first;
  let from = controlName(edit.reActContext.control);
  for (let moves = 0; fired !== undefined; moves += 1) {
    const to = nextStateName(edit.config.graph, from, fired.event);
    if (to === undefined || moves >= maxMovesPerInput || isOneTooMany(edit, to)) {
      record(edit, from, fired, "Error");
      enterError(edit, { event: fired.event, failure: brokenGraph(from, fired, to) }, from);
      return;
    }
    record(edit, from, fired, to);
    fired = isBuiltInState(to) ? enter[to](edit, fired, from) : enterCustom(edit, to, fired.event);
    from = to;
  }
}

const isOneTooMany = ({ reActContext }: StateEdit, to: string): boolean =>
  !isBuiltInState(to) && reActContext.entriesSincePlan >= maxEntriesWithoutPlan;

const brokenGraph = (
  from: string,
  { event, detail }: AnyFiredEvent,
  to: string | undefined,
): AgentFailure => {
  if (to !== undefined) {
    return {
      source: "graph",
      kind: "SafetyCapExceeded",
      message: "The rows of this graph go in a circle.",
      from,
      event,
    };
  }
  const said = detail === undefined ? "" : ` ${detail}`;
  return {
    source: "graph",
    kind: "InvalidTransition",
    message: `There is no row for ${event} in ${from}.${said}`,
    from,
    event,
  };
};

/** The built-in events about the calls of a turn, but for those that begin with `Human`. */
const callEvents: ReadonlySet<string> = new Set<ControlEvent>([
  "LlmToolCall",
  "LlmParallelToolCalls",
  "ToolBlacklisted",
  "ToolSuccess",
  "ToolFailure",
  "OutcomeUnknown",
]);

/** Whether an event is about the calls of a turn: also one of a graph of its own that begins with `Human`. */
const isAboutCalls = (event: string): boolean => callEvents.has(event) || event.startsWith("Human");

function record(edit: StateEdit, from: string, { event, note }: AnyFiredEvent, to: string): void {
  const { loop, step } = edit.reActContext;
  const { timestamp } = edit;
  const noted = note === undefined ? {} : { note };
  const called = isAboutCalls(event) ? { calls: callsAt(edit) } : {};
  edit.moves.push({ from, event, to, loop, step, timestamp, ...noted, ...called });
}
