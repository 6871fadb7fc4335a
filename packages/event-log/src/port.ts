import type { LogError } from "./log-error.ts";

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

/**
 * A cached fold of the records up to `seq`; `digest` is that record's, `version` the format of `body`. Only a cache.
 * `bodyDigest` is `digestOf(body)`: the writer computes it once, and a store compares it when it reads the snapshot.
 */
export interface Snapshot {
  readonly seq: number;
  readonly digest: string;
  readonly version: string;
  readonly body: string;
  readonly bodyDigest: string;
}

export interface LogInfo {
  readonly id: string;
  readonly head: number;
  readonly header: string;
}

/**
 * Reported when something stored is left out:
 * - `torn-tail`: after record `afterSeq` there are `droppedBytes` of an append that a crash cut short and that was never
 *   acknowledged. Reading leaves them in place; the next append removes them. Reported once for each handle;
 * - `damaged-snapshot`: the snapshot of record `afterSeq` (0 if unknown) is not what was saved, or no record of the log
 *   confirms it. The session is folded from its first record;
 * - `unreadable-session`: `list` left out a session whose file (`id`) is damaged, unreadable or of a newer format.
 */
export interface LogNotice {
  readonly type: "torn-tail" | "damaged-snapshot" | "unreadable-session";
  readonly id: string;
  readonly afterSeq: number;
  readonly droppedBytes: number;
}

/** What a log holds, as far as it is sound. */
export interface LogInspection {
  /** The records before the first damage, chain checked. */
  readonly records: readonly LogRecord[];
  /** `LogCorrupt` naming the first bad or missing record; undefined for a sound log. */
  readonly damage: LogError | undefined;
  /** Length of an unfinished append after the last record: a crash cut it short, and it was never acknowledged. */
  readonly unfinishedBytes: number;
}

/**
 * The log of one session, bound to this life of its id: after `remove`, a new session of the same id is another log.
 * Every method may throw or reject with a `LogError`. Only `append`, `lease`, `release` and `saveSnapshot` write.
 */
export interface SessionLog {
  readonly id: string;
  /** JSON text, written once by `create`. */
  readonly header: string;
  /**
   * The longest body that this store takes, in UTF-16 code units, also for all bodies of one append together.
   * Default: the `maxRecordLength` of this package.
   */
  readonly maxRecordLength?: number;
  /**
   * Adds records after `expectedSeq`, all or none, durable when it returns.
   * `Conflict` when the head is elsewhere, `InvalidRecord` when they do not continue the chain, `LogRemoved`, `LogBusy`,
   * `LogWrite`: then nothing was acknowledged, and a handle may refuse to append until the session is opened again.
   */
  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void>;
  /**
   * The records after `afterSeq` (default 0: all of them), chain checked from the record at `afterSeq` on. `LogCorrupt`
   * names the first bad one.
   */
  read(afterSeq?: number): MaybePromise<readonly LogRecord[]>;
  /** Reads the whole log up to its first damage, which is returned and not thrown. */
  inspect(): MaybePromise<LogInspection>;
  /**
   * Verifies that the records up to `seq` are the ones that were appended, without returning them: for a session that
   * starts from a snapshot and does not read them. Stores keep a checksum with each snapshot, so this costs a fraction
   * of `read`. Throws `LogCorrupt` naming the first bad record.
   */
  checkUpTo(seq: number): MaybePromise<void>;
  /** The last sequence number, 0 when there is none. */
  head(): MaybePromise<number>;
  /** Takes or renews the lease when it is free, expired or one's own; answers the lease that is now in force. */
  lease(claim: LeaseClaim): MaybePromise<Lease>;
  /**
   * The lease as it is stored, without claiming it; undefined if it was never taken or has been released. It may have
   * expired: compare `until` with your clock.
   */
  currentLease(): MaybePromise<Lease | undefined>;
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
