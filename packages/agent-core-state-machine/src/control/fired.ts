import type { Edit } from "../edit.ts";
import type { AgentFailure, Control } from "./control.ts";

/** An event on its way along an edge; `failure` is what an Error state will say, `detail` what was said of the event. */
export interface Fired {
  readonly event: string;
  readonly failure?: AgentFailure;
  readonly detail?: string;
}

/** Builds the data of a state that is entered from another; an event goes on at once, without it the state rests. */
export type Enter = (edit: Edit, fired: Fired, from: string) => Fired | undefined;

/** The name of a control state as the table and the user know it. */
export const controlName = (control: Control): string =>
  control.type === "Custom" ? control.name : control.type;
