import type { StateEdit } from "../state-edit.ts";
import type { AgentFailure } from "../failure.ts";
import type { Control } from "./control.ts";

/** An event on its way along an edge; `failure` is the failure of an Error state, `detail` describes the event. */
export interface FiredEvent {
  readonly event: string;
  readonly failure?: AgentFailure;
  readonly detail?: string;
}

/** Builds the data of a state that is entered from another; a returned event fires at once, without one the state rests. */
export type EnterState = (edit: StateEdit, fired: FiredEvent, from: string) => FiredEvent | undefined;

/** The name of a control state as the table and the user know it. */
export const controlName = (control: Control): string =>
  control.type === "Custom" ? control.name : control.type;
