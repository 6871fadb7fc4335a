import type { AgentInput, AgentState, Decision, Question } from "@moora/agent";
import type { LogRecord } from "@moora/event-log";

/**
 * What is posted to a session. `after`: the sequence number of the state that the inputs were computed for; if the session has
 * another one, none is applied. `from`: the key of the effect that reports them.
 */
export interface Posted {
  readonly inputs: readonly AgentInput[];
  readonly after?: number;
  readonly from?: string;
}

/** A decision about a question of a session, and the reviewer. */
export interface Decided {
  readonly question: Pick<Question, "toolCallId" | "digest">;
  readonly decision: Decision;
  readonly by: string;
}

/** How many of the inputs changed the session; undefined if it is not at `after`. */
export interface PostedResult {
  readonly applied?: number;
}

/** A session as its object has it; null if it has received nothing. */
export interface ViewedSession {
  readonly header: string;
  readonly state: AgentState;
  readonly seq: number;
}

/** A request for records: those after a sequence number, at most `limit`. */
export interface RecordsQuery {
  readonly after: number;
  readonly limit: number;
}

export type RecordsPage = readonly LogRecord[];
