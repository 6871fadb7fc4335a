import type { AgentEvent, Question, SubAgentEvent } from "../agent-event.ts";

/** An event that records of the log do not show. */
export type StreamedEvent = Extract<
  AgentEvent<unknown>,
  {
    type:
      | "LlmToken"
      | "LlmReasoning"
      | "LlmToolCall"
      | "LlmToolCallDelta"
      | "LlmPartEnded"
      | "LlmWarning"
      | "ToolCallProgress";
  }
>;

/** An event of a sub-agent: it asks, or a call that it asked about continues. A question travels without its method. */
export interface SentSubAgentEvent extends Omit<SubAgentEvent, "event"> {
  readonly event:
    | ({ readonly type: "ApprovalRequested" } & Question)
    | Extract<AgentEvent<unknown>, { type: "ToolCallStarted" | "ToolCallFinished" }>;
}

/** An event on its way to another server. `offset`: where its text begins in that of the answer, or of its reasoning; receivers read this one. */
export interface SentEvent {
  readonly event: StreamedEvent | SentSubAgentEvent;
  readonly offset?: number;
}

/** Text of a message from `offset` on. */
export interface StreamedText {
  readonly messageId: string;
  readonly offset: number;
  readonly text: string;
}

/**
 * What the process that runs a session sends to servers with viewers. `feed` identifies that process as the owner of the session, or the
 * effect that streams, and `seq` is the last record that the session had. `begin` answers a request: the text that the viewers do not have, and all questions
 * of sub-agents.
 */
export type LiveText = {
  readonly session: string;
  readonly feed: string;
  readonly seq: number;
} & (
  | { readonly type: "events"; readonly events: readonly SentEvent[] }
  | {
      readonly type: "begin";
      readonly streaming: StreamedText | null;
      readonly questions?: readonly Question[];
    }
);

/** A session that a server has viewers of, and what they have of it. */
export interface ViewedSession {
  readonly session: string;
  readonly messageId: string | null;
  readonly length: number;
  /** Whether they see questions of sub-agents, which may have been answered. */
  readonly isAsked: boolean;
  /** Whether they have seen nothing of the owner yet. */
  readonly isNew: boolean;
}
