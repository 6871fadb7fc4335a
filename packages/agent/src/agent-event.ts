import type { AskHumanEffect } from "@moora/agent-core-effects";
import type { ToolCallResult } from "@moora/agent-core-state-machine";
import type { AgentError } from "./agent-error.ts";

/** What a human says to a question: yes, no and why, yes but with these arguments, or the answer that was asked for. */
export type Decision =
  | "approve"
  | { readonly reject: string }
  | { readonly approve: unknown }
  | { readonly answer: unknown };

/** What is asked of a human. A decision binds to `digest`, that is to exactly this. */
export interface Question {
  readonly toolCallId: string;
  /** May the call run; what became of it; or the call itself is a question to the human. */
  readonly about: AskHumanEffect["about"];
  readonly name: string;
  /** The arguments, parsed; text where they are no JSON. */
  readonly parameters: unknown;
  readonly digest: string;
  /** When it counts as rejected, in milliseconds since 1970, or null. */
  readonly due: number | null;
}

/** What an agent does, as it does it. */
export type AgentEvent<Answer = string> =
  | { readonly type: "StateStarted"; readonly state: string; readonly event: string; readonly step: number }
  | { readonly type: "LlmToken"; readonly messageId: string; readonly text: string }
  | { readonly type: "LlmReasoning"; readonly text: string }
  | { readonly type: "LlmToolCall"; readonly name: string }
  | { readonly type: "LlmWarning"; readonly text: string }
  | { readonly type: "LlmRetryScheduled"; readonly due: number }
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
