import type { AgentError, AskHumanEffect } from "@moora/agent-core-effects";
import type { ToolCallResult } from "@moora/agent-core-state-machine";

/**
 * The decision on a question. `about: "approval"` takes `"approve"`, `{ approve: arguments }` for changed arguments, and
 * `{ reject: reason }`; `about: "answer"` takes `{ answer }` and `{ reject: reason }`; `about: "outcome"` takes
 * `{ outcome }`. Any other is ignored as `wrong-decision`, and the question stays open.
 */
export type Decision =
  | "approve"
  | { readonly reject: string }
  | { readonly approve: unknown }
  | { readonly answer: unknown }
  | OutcomeDecision;

/**
 * What is known of a call that was interrupted after it had started: run it again, it worked and gave this `result` (text
 * or JSON), it failed, or the outcome is unknown.
 */
export type OutcomeDecision =
  | { readonly outcome: "run-again" }
  | { readonly outcome: "worked"; readonly result: unknown }
  | { readonly outcome: "failed"; readonly reason?: string }
  | { readonly outcome: "unknown"; readonly reason?: string };

/** What is asked of a human. A decision binds to `digest`, that is to exactly this. */
export interface Question {
  readonly toolCallId: string;
  /** May the call run; what was its outcome; or the call is itself a question to the person. */
  readonly about: AskHumanEffect["about"];
  readonly name: string;
  /** The arguments, parsed; text where they are not JSON. */
  readonly parameters: unknown;
  readonly digest: string;
  /** When it expires, in milliseconds since 1970, or null: an approval is then rejected, an outcome unknown. */
  readonly due: number | null;
  /** How often the question was shown again: 0 at first, counted up by each reminder and by its escalation. */
  readonly reminder: number;
  /** Whether `approval.escalateAfterMs` has passed without a decision: show it to other people from now on. */
  readonly escalated: boolean;
}

/**
 * What an agent does, as it does it. The `messageId` of model events names one attempt of one model call: an attempt that
 * is made again streams under a new id. Text that was shown under an id is the answer's unless `LlmAttemptEnded` or
 * `LlmRetryScheduled` names that id.
 */
export type AgentEvent<Answer = string> =
  | { readonly type: "StateStarted"; readonly state: string; readonly event: string; readonly step: number }
  | { readonly type: "LlmToken"; readonly messageId: string; readonly text: string }
  | { readonly type: "LlmReasoning"; readonly messageId: string; readonly text: string }
  | { readonly type: "LlmToolCall"; readonly messageId: string; readonly name: string }
  | { readonly type: "LlmWarning"; readonly text: string }
  /** The attempt failed; the next one is due at `due`, in milliseconds since 1970. */
  | { readonly type: "LlmRetryScheduled"; readonly messageId: string; readonly due: number }
  /**
   * The text streamed under this id is not a whole answer: it was `cut` off by a failure, a cancel, a restart or the token
   * limit, `dropped` because the model was not confident, or `withheld` because the provider refused the conversation.
   */
  | {
      readonly type: "LlmAttemptEnded";
      readonly messageId: string;
      readonly status: "cut" | "dropped" | "withheld";
    }
  | {
      readonly type: "ToolCallStarted";
      readonly toolCallId: string;
      readonly name: string;
      readonly parameters: string;
    }
  | { readonly type: "ToolCallProgress"; readonly toolCallId: string; readonly text: string }
  | {
      readonly type: "ToolCallFinished";
      readonly toolCallId: string;
      readonly name: string;
      readonly result: ToolCallResult;
    }
  | ApprovalRequested
  | { readonly type: "FinalAnswer"; readonly answer: Answer; readonly text: string }
  | { readonly type: "Error"; readonly error: AgentError };

/** A question to a human, with the way to answer it. */
export interface ApprovalRequested extends Question {
  readonly type: "ApprovalRequested";
  decide(decision: Decision, by?: string): unknown;
}
