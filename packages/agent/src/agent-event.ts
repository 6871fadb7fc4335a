import type { AgentError, AskHumanEffect, Progress } from "@moora/agent-core-effects";
import type {
  AgentInput,
  DataPatch,
  QuestionReason,
  Risk,
  ToolCallResult,
} from "@moora/agent-core-state-machine";

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
 * The outcome of a call that was interrupted after it had started. `run-again` runs the call once more, `worked` gives
 * its `result` (text or JSON), `failed` and `unknown` take an optional `reason`, which the model reads.
 */
export type OutcomeDecision =
  | { readonly outcome: "run-again" }
  | { readonly outcome: "worked"; readonly result: unknown }
  | { readonly outcome: "failed"; readonly reason?: string }
  | { readonly outcome: "unknown"; readonly reason?: string };

/**
 * A question to a reviewer. A decision is bound to `digest`, which covers the session, the call, its tool and its
 * arguments.
 */
export interface Question {
  readonly toolCallId: string;
  /**
   * For a question of a sub-agent: the calls that lead to it, from the call of this session down. `toolCallId` is a call of the
   * last sub-agent. Absent for a question of this session.
   */
  readonly path?: readonly string[];
  /**
   * `approval`: may the call run? `outcome`: what was the outcome of the call? `answer`: the call itself is a question.
   */
  readonly about: AskHumanEffect["about"];
  readonly name: string;
  /** The arguments of the call as a JSON value; their text if they are not JSON. */
  readonly parameters: unknown;
  /** What the tool asks in the middle of its call (`toolAsks`); absent if the call itself is the question. */
  readonly question?: string;
  /** The JSON text of the JSON Schema of the answer, for a question about one; absent if there is none. */
  readonly answerSchema?: string;
  readonly digest: string;
  /** How much harm the call can do, as its tool is defined; absent if the agent does not have the tool. */
  readonly risk?: Risk;
  /** Why a person is asked. */
  readonly reason: QuestionReason;
  /**
   * When the question expires, in milliseconds since 1970; null if it does not. An expired approval counts as rejected,
   * an expired outcome as unknown.
   */
  readonly due: number | null;
  /** How often the question was shown again. Starts at 0; each reminder and the escalation add 1. */
  readonly reminder: number;
  /** Whether `approval.escalateAfterMs` has passed without a decision. If so, show the question to other reviewers. */
  readonly escalated: boolean;
}

/**
 * An event of a run or a session. The `messageId` of model events identifies one attempt of one model call; a retry
 * streams under a new id. Text streamed under an id is part of the answer unless `LlmAttemptEnded` or
 * `LlmRetryScheduled` names that id.
 */
export type AgentEvent<Answer = string> =
  | { readonly type: "StateStarted"; readonly state: string; readonly event: string; readonly step: number }
  | Progress
  /** The application data was changed, as JSON Patch (RFC 6902) says. */
  | { readonly type: "DataChanged"; readonly patches: readonly DataPatch[] }
  /** An agent of a team has handed the conversation to another one. `message` is what it wrote to it. */
  | { readonly type: "HandedOff"; readonly from: string; readonly to: string; readonly message?: string }
  /** The session is paused: no new work starts until `Resumed`. */
  | { readonly type: "Paused"; readonly reason?: string }
  | { readonly type: "Resumed" }
  /** The attempt failed, as `reason` and `message` say; the next one is due at `due`, in milliseconds since 1970. */
  | {
      readonly type: "LlmRetryScheduled";
      readonly messageId: string;
      readonly due: number;
      readonly reason: Extract<AgentInput, { readonly type: "llm-call-failed" }>["failure"]["kind"];
      readonly message: string;
    }
  /**
   * The text streamed under this id is not a complete answer: it was `cut` off by a failure, a cancel, a restart or the
   * token limit, `dropped` because the confidence of the model was too low, or `withheld` because the provider refused
   * the conversation.
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
  | {
      readonly type: "ToolCallFinished";
      readonly toolCallId: string;
      readonly name: string;
      readonly result: ToolCallResult;
    }
  /** An attempt of the call failed; the next one is due at `due`, in milliseconds since 1970. */
  | {
      readonly type: "ToolCallRetryScheduled";
      readonly toolCallId: string;
      readonly name: string;
      readonly error: string;
      readonly due: number;
    }
  | ApprovalRequested
  | SubAgentEvent
  | { readonly type: "FinalAnswer"; readonly answer: Answer; readonly text: string }
  | { readonly type: "Error"; readonly error: AgentError };

/**
 * An event of a sub-agent that runs in this process. `toolCallId` is the call of this session, `path` all calls that lead to
 * the sub-agent, from that one down. A question in it has the same path.
 */
export interface SubAgentEvent {
  readonly type: "SubAgentEvent";
  readonly toolCallId: string;
  readonly path: readonly string[];
  readonly event: Exclude<AgentEvent<unknown>, SubAgentEvent>;
}

/** A question to a reviewer, with a method that answers it. */
export interface ApprovalRequested extends Question {
  readonly type: "ApprovalRequested";
  decide(decision: Decision, by?: string): unknown;
}

/** The question of an event, of the session or of a sub-agent; undefined for any other event. */
export function questionOf(event: AgentEvent<unknown> | undefined): ApprovalRequested | undefined {
  const asked = event?.type === "SubAgentEvent" ? event.event : event;
  return asked?.type === "ApprovalRequested" ? asked : undefined;
}

/** Whether two events show the same question. */
export function showSameQuestion(a: AgentEvent<unknown> | undefined, b: AgentEvent<unknown>): boolean {
  const [shown, other] = [questionOf(a), questionOf(b)];
  return shown !== undefined && shown.toolCallId === other?.toolCallId && shown.digest === other.digest;
}
