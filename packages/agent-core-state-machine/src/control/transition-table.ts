import type { ControlGraph } from "../config.ts";
import type { ControlType } from "./control.ts";

/** The control states that every agent has. `Custom` represents those that a user adds, each by its own name. */
export type BuiltInState = Exclude<ControlType, "Custom">;

/** Frozen, rows included: a write would change every agent of the process. */
const frozenTable = <Rows extends Readonly<Record<string, Readonly<Record<string, string>>>>>(
  rows: Rows,
): Rows => {
  for (const events of Object.values(rows)) Object.freeze(events);
  return Object.freeze(rows);
};

/** The single source of truth: where each event leads from each state. A pair that is not here is no transition. */
export const transitionTable = /* @__PURE__ */ frozenTable({
  Idle: { Start: "Planning" },
  Planning: {
    MaxSteps: "Error",
    BudgetExceeded: "Error",
    LowConfidence: "Reflecting",
    ToolBlacklisted: "Planning",
    AnswerInvalid: "Planning",
    HumanApprovalRequired: "WaitingForHuman",
    LlmToolCall: "Acting",
    LlmParallelToolCalls: "ParallelActing",
    ContextChanged: "Planning",
    UserInterjected: "Planning",
    AnswerTooShort: "Planning",
    LlmFinalAnswer: "Done",
    LlmRetry: "Planning",
    ContextExceeded: "Reflecting",
    FatalError: "Error",
    Cancelled: "Error",
  },
  WaitingForHuman: {
    HumanRejected: "Observing",
    HumanAnswered: "Observing",
    HumanModified: "Acting",
    HumanApprovedParallel: "ParallelActing",
    HumanApproved: "Acting",
    Cancelled: "Error",
  },
  Acting: {
    ToolSuccess: "Observing",
    ToolFailure: "Observing",
    OutcomeUnknown: "WaitingForHuman",
    HumanApprovalRequired: "WaitingForHuman",
    FatalError: "Error",
    Cancelled: "Error",
  },
  ParallelActing: {
    ToolSuccess: "Observing",
    ToolFailure: "Observing",
    OutcomeUnknown: "WaitingForHuman",
    HumanApprovalRequired: "WaitingForHuman",
    FatalError: "Error",
    Cancelled: "Error",
  },
  Observing: { NeedsReflection: "Reflecting", Continue: "Planning" },
  Reflecting: { ReflectDone: "Planning", Cancelled: "Error" },
  Done: {},
  Error: {},
} as const satisfies Readonly<Record<BuiltInState, Readonly<Record<string, BuiltInState>>>>);

type EventsOf<Rows> = { [State in keyof Rows]: keyof Rows[State] }[keyof Rows];

/** An event on an edge of the built-in table; a custom state may emit any other word. */
export type ControlEvent = EventsOf<typeof transitionTable>;

/** Whether a name is that of a state that every agent has. */
export const isBuiltInState = (name: string): name is BuiltInState => Object.hasOwn(transitionTable, name);

/** The control states that every agent has, in the order of the table. */
export const builtInStates: readonly BuiltInState[] = Object.keys(transitionTable).filter(isBuiltInState);

const builtInRows: Readonly<Record<string, Readonly<Record<string, string>>>> = transitionTable;

/** Where an event leads from a state, by name; undefined where there is no row. A user's row goes before ours. */
export function nextStateName(graph: ControlGraph, from: string, event: string): string | undefined {
  return row(graph.rows, from, event) ?? row(builtInRows, from, event) ?? everywhere(graph, from, event);
}

/** A custom state may be cancelled like any other that waits. */
function everywhere(graph: ControlGraph, from: string, event: string): string | undefined {
  const waits = graph.states.includes(from) && !graph.terminals.includes(from);
  return waits && event === "Cancelled" ? "Error" : undefined;
}

function row(
  rows: Readonly<Record<string, Readonly<Record<string, string>>>>,
  from: string,
  event: string,
): string | undefined {
  const events = Object.hasOwn(rows, from) ? rows[from] : undefined;
  return events !== undefined && Object.hasOwn(events, event) ? events[event] : undefined;
}
