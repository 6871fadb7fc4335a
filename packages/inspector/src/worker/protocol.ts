import type { PositionDiff, SessionComparison } from "../session/compare.ts";
import type { PositionView } from "../session/position-view.ts";
import type { RecordCheck } from "../session/record-check.ts";
import type { Redaction } from "../session/redact.ts";
import type { HistoryPosition } from "../session/history-position.ts";
import type { HistoryRecord, RecordRow } from "../session/session-history.ts";
import type { Span } from "../session/spans.ts";
import type { TreeChildren } from "../session/tree.ts";

/** What the page asks the worker. Each call is answered with the result, or with the message of an error. */
export interface WorkerCalls {
  /** Opens an exported session. The records follow as `rows`; the answer comes when all are read. */
  open(text: string | Blob): OpenedSession;
  /** Opens a second session, which `compare` compares with the first one. */
  openOther(text: string | Blob): OpenedSession;
  /** Adds records that a server has streamed; those that are known already are skipped. */
  append(records: readonly HistoryRecord[]): void;
  /** Which of these calls are open after the last record. */
  openCalls(toolCallIds: readonly string[]): readonly string[];
  /** How many questions of the session itself are open after the last record. */
  openQuestions(): number;
  /** Gives streamed records the digests of a newer export, and checks all records again. */
  complete(text: string): void;
  /** Identifies the records that are known, for a stream after the last one. */
  position(): HistoryPosition;
  view(seq: number, entries: number): PositionView;
  /** Fields of the state at a record, from an index on. */
  children(seq: number, path: readonly string[], from: number): TreeChildren;
  /** The records that match what a user typed; undefined for an empty query. */
  search(typed: string): readonly number[] | undefined;
  diff(from: number, to: number): PositionDiff;
  compare(): SessionComparison;
  requestJson(seq: number): string | undefined;
  transcriptTest(seq: number): string;
  /** An exported session with the first records; undefined if some have no digests. */
  goldenLog(seq: number): string | undefined;
  redact(redaction: Redaction): string;
}

/** A session that was opened. */
export interface OpenedSession {
  readonly id: string;
  readonly agent: string;
  readonly parent: { readonly id: string; readonly seq: number } | undefined;
  readonly records: number;
  /** What is wrong with the file; undefined for an undamaged one. */
  readonly problem: string | undefined;
}

/** What the worker reports by itself, for the first session. */
export type WorkerEvent =
  | { readonly event: "opening"; readonly id: string; readonly total: number }
  | { readonly event: "rows"; readonly rows: readonly RecordRow[]; readonly spans: readonly Span[] }
  /** The results of the check of the records from `from` on. */
  | { readonly event: "checked"; readonly from: number; readonly checks: readonly RecordCheck[] };

/** A call on its way to the worker. */
export interface CallMessage<Name extends keyof WorkerCalls = keyof WorkerCalls> {
  readonly id: number;
  readonly name: Name;
  readonly args: Parameters<WorkerCalls[Name]>;
}

/** An answer on its way to the page. */
export type ReplyMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
