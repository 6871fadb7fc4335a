import type { AgentInput, Decision, IgnoredReason, Question } from "@moora/agent";
import type { ChainHead, LogRecord } from "@moora/event-log";
import type { SnapshotAbout } from "./stored-session.ts";

/** What a caller posts to a session. */
export interface Posted {
  readonly inputs: readonly AgentInput[];
}

/**
 * What an effect or a timer reports. `from`: its key. `header`: the digest of the header of its session. `after`: the sequence number of
 * the state that the inputs were computed for; if the session has another one, none is applied.
 */
export interface Report extends Posted {
  readonly from: string;
  readonly header: string;
  readonly after?: number;
}

/** A deadline of the session with this digest of its header. */
export interface SessionDeadline {
  readonly key: string;
  readonly due: number;
  readonly header: string;
}

/** A decision about a question of a session, and the reviewer. */
export interface Decided {
  readonly question: Pick<Question, "toolCallId" | "digest">;
  readonly decision: Decision;
  readonly by: string;
}

/** What became of inputs. Undefined if the session is not at `after`. */
export interface PostedResult {
  /** How many of the inputs changed the session. */
  readonly applied?: number;
  /** The indexes of those that did not. */
  readonly ignored?: readonly number[];
  /** Why each of these did not; undefined if the effect that reports them is of a removed session. */
  readonly reasons?: readonly IgnoredReason[];
}

/** Asks for the records after a head that the caller has of the session with this digest of its header. */
export interface ViewQuery {
  readonly header: string;
  readonly after: ChainHead;
}

/** The first records after the head of a caller, as many as an answer can contain. `seq` is that of the last record of the session. */
export interface ViewedRecords {
  readonly seq: number;
  readonly records: readonly LogRecord[];
}

/** A session for a caller without a head, or with one that does not lead to it. The records are the first ones after the snapshot. */
export interface ViewedSession extends ViewedRecords {
  readonly header: string;
  readonly snapshot: SnapshotAbout;
}

export type View = ViewedRecords | ViewedSession;

/** A request for a part of the snapshot at the record `at`, from 0. */
export interface SnapshotPart {
  readonly at: number;
  readonly index: number;
}

/** A request for records: those after a sequence number, at most `limit`. The answer may have fewer, and at least one if there are any. */
export interface RecordsQuery {
  readonly after: number;
  readonly limit: number;
}

/**
 * Records that a process has made for a session with this digest of its header and at this head. The object appends them only there, and
 * only if their inputs make these records.
 */
export interface SessionAppend {
  readonly header: string;
  readonly after: ChainHead;
  readonly records: readonly LogRecord[];
}

/** Which session an id has, by the digest of its header, and its last record. */
export interface LogHead extends ChainHead {
  readonly header: string;
}

/** What became of an append. `seq`: the last record of a session to which it was not made. */
export type AppendResult =
  | { readonly type: "appended" }
  | { readonly type: "conflict"; readonly seq: number }
  | { readonly type: "removed" };
