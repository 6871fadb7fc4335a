import type { StateEdit } from "../state-edit.ts";
import type { AgentInput } from "../input.ts";
import type { AgentState } from "../state.ts";

/** Why an input does not apply. Stable: programs may branch on it. */
export type IgnoredReason =
  | "unknown-input"
  | "notice"
  | "blank"
  | "duplicate-id"
  | "reserved-id"
  | "busy"
  | "no-loop"
  | "not-failed"
  | "paused"
  | "already-paused"
  | "not-paused"
  | "not-planning"
  | "waiting"
  | "wrong-key"
  | "wrong-message"
  | "already-started"
  | "turn-mismatch"
  | "unknown-call"
  | "not-open"
  | "wrong-attempt"
  | "not-asking"
  | "already-decided"
  | "digest-mismatch"
  | "wrong-decision"
  | "nothing-new"
  | "no-data"
  | "wrong-patch"
  | "unknown-schedule"
  | "too-many-schedules";

/** Applies the change of an input to the state for which it was returned. Called immediately. */
export type StateChange = (edit: StateEdit) => void;

/** Handles one type of input. Returns the reason why the input does not apply, or the change that it makes. */
export type InputHandler<Input extends AgentInput> = HandlerMethod<Input>["handle"];

// A method type: its parameter is bivariant, so that a table of handlers can be called with any input.
interface HandlerMethod<Input extends AgentInput> {
  handle(state: AgentState, input: Input): IgnoredReason | StateChange;
}
