import type { ToolCallResult } from "@moora/agent-core-state-machine";
import type { ChunkEvent } from "@moora/agent-webui-protocol";

/** What a server with viewers gets: the chunks of its viewers, and the result of a call of a sub-agent that they were asked about. */
export type LiveChunk =
  | Exclude<ChunkEvent, { type: "question-closed" }>
  | (Extract<ChunkEvent, { type: "question-closed" }> & { readonly result?: ToolCallResult });

/**
 * What the process that runs a session sends to servers with viewers. `feed` identifies that process as the owner of the session, or the
 * effect that streams, and `seq` is the last record that the session had. `begin` answers a request: its questions of sub-agents are all
 * that are open.
 */
export interface LiveText {
  readonly type: "begin" | "events";
  readonly session: string;
  readonly feed: string;
  readonly seq: number;
  readonly chunks: readonly LiveChunk[];
}

/** A session that a server has viewers of, and what they have of it. */
export interface ViewedSession {
  readonly session: string;
  readonly messageId: string | null;
  /** The length of its draft. */
  readonly length: number;
  /** Whether they see questions of sub-agents, which may have been answered. */
  readonly isAsked: boolean;
  /** Whether they have seen nothing of the owner yet. */
  readonly isNew: boolean;
}
