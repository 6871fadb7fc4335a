import type { ControlGraph } from "../config-parts.ts";
import type { ControlType } from "./control.ts";

/** The control states that every agent has. Custom states have names of their own. */
export type BuiltInState = Exclude<ControlType, "Custom">;

/** Freezes a table and its rows: a write would change every agent of the process. */
const frozenTable = <Rows extends Readonly<Record<string, Readonly<Record<string, string>>>>>(
  rows: Rows,
): Rows => {
  for (const events of Object.values(rows)) Object.freeze(events);
  return Object.freeze(rows);
};

/** The built-in transitions: the state to which each event leads from each state. Other pairs are invalid. */
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

/** An event of the built-in table. Custom states may emit other events. */
export type ControlEvent = EventsOf<typeof transitionTable>;

/** Whether a name is that of a built-in state. */
export const isBuiltInState = (name: string): name is BuiltInState => Object.hasOwn(transitionTable, name);

/** The built-in states, in the order of the table. */
export const builtInStates: readonly BuiltInState[] = Object.keys(transitionTable).filter(isBuiltInState);

const builtInRows: Readonly<Record<string, Readonly<Record<string, string>>>> = transitionTable;

/** The name of the state to which an event leads; undefined without a row. Custom rows take precedence; null removes a row. */
export function nextStateName(graph: ControlGraph, from: string, event: string): string | undefined {
  const own = row(graph.rows, from, event);
  if (own !== undefined) return own ?? undefined;
  return row(builtInRows, from, event) ?? everywhere(graph, from, event);
}

/** The transition that every custom state has: `Cancelled` leads to Error, unless the state is terminal. */
function everywhere(graph: ControlGraph, from: string, event: string): string | undefined {
  const waits = graph.states.includes(from) && !graph.terminals.includes(from);
  return waits && event === "Cancelled" ? "Error" : undefined;
}

function row<To>(
  rows: Readonly<Record<string, Readonly<Record<string, To>>>>,
  from: string,
  event: string,
): To | undefined {
  const events = Object.hasOwn(rows, from) ? rows[from] : undefined;
  return events !== undefined && Object.hasOwn(events, event) ? events[event] : undefined;
}
