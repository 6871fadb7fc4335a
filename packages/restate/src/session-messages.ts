import type { AgentInput, AgentState, Decision, FoldedSession, IgnoredReason, Question } from "@moora/agent";
import type { ChainHead, LogRecord } from "@moora/event-log";

/**
 * What is posted to a session. `after`: the sequence number of the state that the inputs were computed for; if the session has
 * another one, none is applied. `from`: the key of the effect that reports them. `header`: the digest of the header of its session;
 * undefined in a report of an earlier release.
 */
export interface Posted {
  readonly inputs: readonly AgentInput[];
  readonly after?: number;
  readonly from?: string;
  readonly header?: string;
}

/** A deadline of the session with this digest of its header; undefined in a timer of an earlier release. */
export interface SessionDeadline {
  readonly key: string;
  readonly due: number;
  readonly header?: string;
}

/** A decision about a question of a session, and the reviewer. */
export interface Decided {
  readonly question: Pick<Question, "toolCallId" | "digest">;
  readonly decision: Decision;
  readonly by: string;
}

/** What became of inputs. Both are undefined if the session is not at `after`. */
export interface PostedResult {
  /** How many of the inputs changed the session. */
  readonly applied?: number;
  /** The indexes of those that did not; undefined in the answer of an earlier release. */
  readonly ignored?: readonly number[];
  /** Why each of these did not; undefined if the effect that reports them is of a removed session, and in the answer of an earlier release. */
  readonly reasons?: readonly IgnoredReason[];
}

/** A session as its object has it. `digest` is that of its last record; undefined in the answer of an earlier release. */
export interface ViewedSession {
  readonly header: string;
  readonly state: AgentState;
  readonly seq: number;
  readonly digest?: string;
  /** The rules by which the state was folded; undefined in the answer of an earlier release. */
  readonly rules?: number | undefined;
}

/** A request for the records after the head of a session that the caller has; for the session as a whole without one. */
export interface ViewQuery {
  readonly after?: ChainHead | null;
}

/**
 * The first records after a head, as many as an answer can contain; undefined if they do not lead from it to the session, or if the session
 * is too long for an answer: the caller needs it as a whole, from `stored`. `seq` is that of the last record of the session; undefined
 * in the answer of an earlier release, which has all records.
 */
export interface ViewedRecords {
  readonly records?: RecordsPage;
  readonly seq?: number;
}

/** The answer of `view`: the session, or what follows the head of the query. Null if the session has received nothing. */
export type View = ViewedSession | ViewedRecords | null;

/** A snapshot of a session, and the first records after it. `seq` is as in `ViewedRecords`. */
export interface SnapshotWithRecords {
  readonly header: string;
  readonly snapshot: FoldedSession;
  readonly records: RecordsPage;
  readonly seq?: number;
}

/** A snapshot that is too long for an answer: the JSON of its `FoldedSession`, at the record `at`, is read in so many parts. */
export interface LongSnapshot {
  readonly header: string;
  readonly parts: number;
  readonly at: number;
  readonly seq: number;
}

export type StoredSession = SnapshotWithRecords | LongSnapshot;

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

export type RecordsPage = readonly LogRecord[];

/**
 * Records that a process has made for a session with this digest of its header and at this head. The object appends them only there, and
 * only if their inputs make these records.
 */
export interface SessionAppend {
  readonly header: string;
  readonly after: ChainHead;
  readonly records: RecordsPage;
}

/** Which session an id has, by the digest of its header, and its last record. */
export interface LogHead {
  readonly header: string;
  readonly seq: number;
}

/** What became of an append. `seq`: the last record of a session to which it was not made. */
export type AppendResult =
  | { readonly type: "appended" }
  | { readonly type: "conflict"; readonly seq: number }
  | { readonly type: "removed" };
