/** A value now, or a promise of it. A log that answers at once answers without a promise, all the way. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * One accepted input. `body` is its JSON text, stored as it came; `changed` is the digest of what it changed in the
 * state; `digest` chains them: `chained(previous digest, body, changed)`, the first one from the header's text.
 * `seq` counts from 1 without a gap.
 */
export interface LogRecord {
  readonly seq: number;
  readonly body: string;
  readonly changed: string;
  readonly digest: string;
}

/** Who may run effects, until when (milliseconds since 1970, by the clock of whoever asked). */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}

export interface LeaseClaim {
  readonly owner: string;
  readonly now: number;
  readonly ttlMs: number;
}

/** A cached fold of the records up to `seq`; `digest` is that record's, `version` the format of `body`. Only a cache. */
export interface Snapshot {
  readonly seq: number;
  readonly digest: string;
  readonly version: string;
  readonly body: string;
}

export interface LogInfo {
  readonly id: string;
  readonly head: number;
  readonly header: string;
}

/**
 * What is said once when a store had to leave something out on the way in:
 * - `torn-tail`: the remains of an append that a crash cut short were cut off, after `afterSeq`;
 * - `damaged-snapshot`: the cached fold was not what had been saved; fold from the start (`afterSeq` 0);
 * - `unreadable-session`: `list` left out a session whose file (`id`) is damaged or of a newer format.
 */
export interface LogNotice {
  readonly type: "torn-tail" | "damaged-snapshot" | "unreadable-session";
  readonly id: string;
  readonly afterSeq: number;
  readonly droppedBytes: number;
}

/**
 * The log of one session, bound to this life of its id: after `remove`, a new session of the same id is another log.
 * Every method may throw or reject with a `LogError`.
 */
export interface SessionLog {
  readonly id: string;
  /** JSON text, written once by `create`. */
  readonly header: string;
  /**
   * Adds records after `expectedSeq`, all or none, durable when it returns.
   * `Conflict` when the head is elsewhere, `InvalidRecord` when they do not continue the chain, `LogRemoved`, `LogBusy`,
   * `LogWrite`: then nothing was acknowledged, and a handle may refuse to append until the session is opened again.
   */
  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void>;
  /** The records after `afterSeq` (default 0: all of them), chain checked. `LogCorrupt` names the first bad one. */
  read(afterSeq?: number): MaybePromise<readonly LogRecord[]>;
  /** The last sequence number, 0 when there is none. */
  head(): MaybePromise<number>;
  /** Takes or renews the lease when it is free, expired or one's own; answers the lease that is now in force. */
  lease(claim: LeaseClaim): MaybePromise<Lease>;
  release(owner: string): MaybePromise<void>;
  /** Calls back soon after records may have been added, by this process or another; answers how to stop. */
  watch(listener: () => void): () => void;
  /** The snapshot saved last, if it is undamaged. */
  snapshot(): MaybePromise<Snapshot | undefined>;
  saveSnapshot(snapshot: Snapshot): MaybePromise<void>;
}

/** Where sessions live. An id is any well-formed string of 1 to 200 UTF-16 units; anything else is `InvalidId`. */
export interface EventLog {
  readonly name: string;
  /** `LogExists` when the id is taken. */
  create(id: string, header: string): MaybePromise<SessionLog>;
  /** Undefined when there is none, or only a tombstone. */
  open(id: string): MaybePromise<SessionLog | undefined>;
  /** In order of id, by code unit. */
  list(): MaybePromise<readonly LogInfo[]>;
  /** Leaves a tombstone: appends through older handles fail with `LogRemoved`. False when there was nothing. */
  remove(id: string): MaybePromise<boolean>;
  close(): MaybePromise<void>;
}
