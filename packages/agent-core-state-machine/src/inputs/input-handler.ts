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
  | "nothing-new";

/** Writes the change that an input makes. Called at once, with the state for which it was returned. */
export type StateChange = (edit: StateEdit) => void;

/** What one type of input does: the reason why it does not apply, or the change that it makes. */
export type InputHandler<Input extends AgentInput> = HandlerMethod<Input>["handle"];

// The type of a method, which a table of handlers can be indexed with and called for any input.
interface HandlerMethod<Input extends AgentInput> {
  handle(state: AgentState, input: Input): IgnoredReason | StateChange;
}
