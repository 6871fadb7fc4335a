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

/** What one kind of input does: a reason why it does not apply, or the change. Methods, so that a table can be looked up. */
export interface InputHandler<Input extends AgentInput> {
  whyNot(state: AgentState, input: Input): IgnoredReason | undefined;
  apply(edit: StateEdit, input: Input): void;
}
