import type { AgentEvent, Question, SubAgentEvent } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";

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
export interface EventBelow extends Omit<SubAgentEvent, "event"> {
  readonly event:
    | ({ readonly type: "ApprovalRequested" } & Question)
    | Extract<AgentEvent<unknown>, { type: "ToolCallStarted" | "ToolCallFinished" }>;
}

/** An event on its way to another server. `offset`: where its text begins in that of the answer, or of its reasoning. */
export interface SentEvent {
  readonly event: StreamedEvent | EventBelow;
  readonly offset?: number;
}

/** Text of a message from `offset` on. */
export interface StreamedText {
  readonly messageId: string;
  readonly offset: number;
  readonly text: string;
}

/**
 * What the server that runs a session sends to those with viewers. `feed` identifies that server as the owner of the session, `seq` is
 * the last record that the session had. `begin` answers a request: the text that the viewers do not have, and all questions
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

/** What a server with viewers sends to all servers. `server` is its own topic. */
export type ViewerText =
  | { readonly type: "view"; readonly server: string; readonly sessions: readonly ViewedSession[] }
  | { readonly type: "leave"; readonly server: string; readonly sessions: readonly string[] };

/** The topic to which servers send `ViewerText`. Other versions of these texts have another one. */
export const viewersTopic = "viewers/1";

export const liveTextOf = (text: string): LiveText | undefined =>
  // The log is the bound of trust: what it carries was sent by a server of this version.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  parsed(text, ["events", "begin"]) as LiveText | undefined;

export const viewerTextOf = (text: string): ViewerText | undefined =>
  // As above.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  parsed(text, ["view", "leave"]) as ViewerText | undefined;

function parsed(text: string, types: readonly unknown[]): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && types.includes(value["type"]) ? value : undefined;
  } catch {
    return undefined;
  }
}
