import type { EventLog, LogRecord, MaybePromise } from "../port.ts";

/** What a suite needs of a store: a place of its own for each case, and ways to do harm to what is kept there. */
export interface LogStorage {
  /** A log on this storage, as one more process would have it. */
  open(): MaybePromise<EventLog>;
  /** A log on this storage after all that had it open were killed. */
  reopen(): MaybePromise<EventLog>;
  dispose(): MaybePromise<void>;
  /** Replaces the stored records of a session, without any check and behind the back of open logs. */
  rewrite?(id: string, edit: (records: readonly LogRecord[]) => readonly LogRecord[]): MaybePromise<void>;
  /** Alters the stored header of a session. */
  damageHeader?(id: string): MaybePromise<void>;
  /** Alters the stored body of a session's snapshot. */
  damageSnapshot?(id: string): MaybePromise<void>;
  /** Makes a session look as if a newer Moora had written it. */
  raiseFormat?(id: string): MaybePromise<void>;
}

/** The harm that a storage knows how to do. */
export type Ability = "rewrite" | "damageHeader" | "damageSnapshot" | "raiseFormat";

/** One sentence about a log and how to find out whether it is true: `run` rejects when it is not. */
export interface LogCase {
  readonly name: string;
  readonly needs?: Ability;
  readonly run: (storage: LogStorage) => Promise<void>;
}
