import type { StateEdit } from "../state-edit.ts";
import type { AgentFailure } from "../failure.ts";
import type { AgentState } from "../state.ts";
import type { TraceNote } from "../trace-note.ts";
import type { Control, ControlType } from "./control.ts";
import type { BuiltInState, transitionTable } from "./transition-table.ts";

/**
 * An event that fires. `failure` is the failure if the event leads to Error, `detail` describes the event, `note` is for the
 * trace.
 */
export interface AnyFiredEvent {
  readonly event: string;
  readonly failure?: AgentFailure;
  readonly detail?: string;
  readonly note?: TraceNote;
}

/** The rows of the table for a state. A custom state may fire any event. */
type RowsOf<State extends ControlType> = State extends BuiltInState
  ? (typeof transitionTable)[State]
  : { readonly [event: string]: string; readonly Cancelled: "Error" };

type EventOf<Rows> = keyof Rows & string;

/** The events of these rows that lead to Error. */
type FailingEventOf<Rows> = {
  [Event in keyof Rows]: Rows[Event] extends "Error" ? Event & string : never;
}[keyof Rows];

type FiredFrom<Rows> =
  | {
      readonly event: Exclude<EventOf<Rows>, FailingEventOf<Rows>>;
      readonly failure?: never;
      readonly detail?: string;
      readonly note?: TraceNote;
    }
  | {
      readonly event: FailingEventOf<Rows>;
      readonly failure: AgentFailure;
      readonly detail?: string;
      readonly note?: TraceNote;
    };

/**
 * An event that fires from a state: one of its rows in the transition table, with the failure if it leads to Error. From one
 * of several states: an event that each of them has. From a custom state: any event.
 */
export type FiredEvent<State extends ControlType> = FiredFrom<RowsOf<State>>;

/** Enters a state from another one, and sets its data. A returned event fires at once; undefined ends the walk. */
export type EnterState<State extends ControlType> = (
  edit: StateEdit,
  fired: AnyFiredEvent,
  from: string,
) => FiredEvent<State> | undefined;

/** The name of a control state in the transition table; for a custom state, its own name. */
export const controlName = (control: Control): string =>
  control.type === "Custom" ? control.name : control.type;

/** Where the agent is, for people: the name of its control state, and `Canceled` in place of Error where a cancel has ended the loop. */
export const statusAt = ({ reActContext: { control } }: Pick<AgentState, "reActContext">): string =>
  control.type === "Error" && control.failure.kind === "Cancelled" ? "Canceled" : controlName(control);
