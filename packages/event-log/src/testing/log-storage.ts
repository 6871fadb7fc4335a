import type { EventLog, LogRecord, MaybePromise } from "../port.ts";

/** The store that a conformance case runs on, with ways to damage the stored data. Each case needs its own storage. */
export interface LogStorage {
  /** Opens a log on this storage, as another process would, or another part of the one process that the store is for. */
  open(): MaybePromise<EventLog>;
  /** Opens a log on this storage after all processes that use it were killed. */
  reopen(): MaybePromise<EventLog>;
  /** Deletes the storage. */
  dispose(): MaybePromise<void>;
  /** Replaces the stored records of a session without checks, unnoticed by open logs. */
  rewrite?(id: string, edit: (records: readonly LogRecord[]) => readonly LogRecord[]): MaybePromise<void>;
  /** Alters the stored header of a session. */
  damageHeader?(id: string): MaybePromise<void>;
  /** Alters the stored body of a session's snapshot. */
  damageSnapshot?(id: string): MaybePromise<void>;
  /** Changes the stored format of a session to that of a newer release. */
  raiseFormat?(id: string): MaybePromise<void>;
}

/** An optional method of a `LogStorage`, which some cases need. */
export type Ability = "rewrite" | "damageHeader" | "damageSnapshot" | "raiseFormat";

/** One case of the conformance suite: a sentence about logs, and a test that rejects if it is not true. */
export interface LogCase {
  readonly name: string;
  readonly needs?: Ability;
  readonly run: (storage: LogStorage) => Promise<void>;
}
