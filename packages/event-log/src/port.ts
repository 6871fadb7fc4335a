import type { LogError } from "./log-error.ts";

/** A value or a promise of it. A synchronous log returns values, never promises. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * One accepted input. `seq` counts from 1 without gaps; `body` is the JSON text of the input, stored unchanged; `digest` chains
 * the records: `recordDigest(previous digest, body)`, where the first previous digest is that of the header. `changesDigest` is
 * a check of what the reducer made of the input, at most 200 UTF-16 code units; the chain does not cover it.
 */
export interface LogRecord {
  readonly seq: number;
  readonly body: string;
  readonly changesDigest: string;
  readonly digest: string;
}

/** The owner of a session, which may run its effects, and until when: milliseconds since 1970 by the claimant's clock. */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}

/** A claim to a lease: `now` is the claimant's clock in milliseconds since 1970, `ttlMs` how long the lease is to last. */
export interface LeaseClaim {
  readonly owner: string;
  readonly now: number;
  readonly ttlMs: number;
}

/**
 * A cached fold of the records up to `seq`. `digest` is the digest of that record, `version` the format of `body`, and
 * `bodyDigest` is `digestOf(body)`, which stores compare when they read the snapshot. It can be discarded at any time.
 */
export interface Snapshot {
  readonly seq: number;
  readonly digest: string;
  readonly version: string;
  readonly body: string;
  readonly bodyDigest: string;
}

/** An entry of `EventLog.list`: a session's id, its last sequence number (0 for none) and its header. */
export interface LogInfo {
  readonly id: string;
  readonly head: number;
  readonly header: string;
}

/**
 * An entry of `EventLog.due`: a session with its header, and when its work continues, in milliseconds since 1970. 0: records were
 * added since `saveDue`, so that there may be work now.
 */
export interface DueSession {
  readonly id: string;
  readonly header: string;
  readonly due: number;
}

/** What `EventLog.due` returns: at most `limit` sessions that are due at `now`, after the last one of the page before. */
export interface DueQuery {
  readonly now: number;
  readonly limit: number;
  readonly after?: Pick<DueSession, "due" | "id"> | undefined;
}

/** What `EventLog.page` returns: at most `limit` sessions, at least 1, after the last one of the page before. */
export interface PageQuery {
  /**
   * Only the sessions whose header has one of these in its field `user`, compared as well-formed texts; null: the sessions whose header
   * does not have the field. Default: all sessions.
   */
  readonly users?: readonly (string | null)[] | undefined;
  /** The id of the last session of the page before, which need not exist any more. Default: from the first session on. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Reports stored data that is skipped:
 * - `torn-tail`: after record `afterSeq` there are `droppedBytes` of an append that a crash cut short and that was never
 *   acknowledged. Reading leaves them in place; the next append removes them. Reported once for each session that is read;
 * - `damaged-snapshot`: the snapshot of record `afterSeq` (0 if unknown) is not the one that was saved, or no record of the
 *   log confirms it. The session is folded from its first record;
 * - `unreadable-session`: `list` skipped a session whose file (`id`) is damaged, unreadable or of a newer format.
 */
export interface LogNotice {
  readonly type: "torn-tail" | "damaged-snapshot" | "unreadable-session";
  readonly id: string;
  readonly afterSeq: number;
  readonly droppedBytes: number;
}

/** The undamaged part of a log, and its damage. */
export interface LogInspection {
  /** The records before the first damage, with the chain checked. */
  readonly records: readonly LogRecord[];
  /** `LogCorrupt` with the `seq` of the first bad or missing record; undefined for an undamaged log. */
  readonly damage: LogError | undefined;
  /** The length in bytes of an append that a crash cut short after the last record, and that was never acknowledged. */
  readonly unfinishedBytes: number;
}

/**
 * A handle on the log of one session. It belongs to one generation of the id: after `remove`, its methods fail with
 * `LogRemoved`, even if the id is created again. Every method may throw or reject with a `LogError`. Only `append`, `lease`,
 * `release`, `saveSnapshot`, `saveDue` and `removeAt` write.
 */
export interface SessionLog {
  readonly id: string;
  /** JSON text, written once by `create`. The chain of digests starts from it. */
  readonly header: string;
  /**
   * The longest body that this store accepts, in UTF-16 code units; also the limit for all bodies of one append together.
   * Default: `maxRecordLength` of this package.
   */
  readonly maxRecordLength?: number;
  /**
   * Adds records after `expectedSeq`, all or none; they are durable when it returns. Fails with `Conflict` when the head is
   * not `expectedSeq`, with `InvalidRecord` when the records do not continue the chain, with `LogRemoved` or `LogBusy`, and
   * with `LogWrite`: the records may or may not be stored, and the handle may refuse to append until the session is reopened.
   */
  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void>;
  /**
   * Returns the records after `afterSeq` (default 0: all of them), with the chain checked from record `afterSeq` on. Fails
   * with `LogCorrupt`, whose `seq` is the first bad record. With `limit`, at least 1, a store may return only the first `limit` of
   * them; fewer are all that there are.
   */
  read(afterSeq?: number, limit?: number): MaybePromise<readonly LogRecord[]>;
  /** Reads the whole log up to its first damage, in turns of the event loop. The damage is returned, not thrown. */
  inspect(): MaybePromise<LogInspection>;
  /**
   * Verifies that the records up to `seq` are the ones that were appended, without returning them: for a session that
   * starts from a snapshot and does not read them. Databases save a checksum with each snapshot, so this costs a fraction
   * of `read` there. Fails with `LogCorrupt`, whose `seq` is the first bad record.
   */
  checkUpTo(seq: number): MaybePromise<void>;
  /** Returns the last sequence number, 0 for a log without records. */
  head(): MaybePromise<number>;
  /** Claims or renews the lease. Returns the lease in force: the claimed one, or the unexpired lease of another owner. */
  lease(claim: LeaseClaim): MaybePromise<Lease>;
  /**
   * Returns the stored lease without claiming it; undefined if it was never claimed or has been released. It may have
   * expired: compare `until` with your clock.
   */
  currentLease(): MaybePromise<Lease | undefined>;
  /** Releases the lease if `owner` holds it; otherwise does nothing, also when the session was removed. */
  release(owner: string): MaybePromise<void>;
  /**
   * Calls the listener soon after another handle may have added records, in this process or another, or the session was
   * removed; not for the appends of this handle, whose caller knows them. A call may be spurious, and one at the start is
   * normal: the session may have changed before. Returns a function that stops it.
   */
  watch(listener: () => void): () => void;
  /** Returns the snapshot that was saved last; undefined if there is none or it is damaged. */
  snapshot(): MaybePromise<Snapshot | undefined>;
  /** Replaces the snapshot. */
  saveSnapshot(snapshot: Snapshot): MaybePromise<void>;
  /**
   * Optional, with `EventLog.due`. Saves when the work of the session continues, in milliseconds since 1970; null for a session
   * that only new records can continue. Does nothing if the last record is not `seq`. Each append of records resets it to 0.
   */
  saveDue?(seq: number, due: number | null): MaybePromise<void>;
  /**
   * Optional; retention needs it. Removes the session if its last record is `seq`, at least 1; its handles then fail with
   * `LogRemoved`. Returns false, and removes nothing, if it has another last record: a record that was acknowledged is never lost.
   */
  removeAt?(seq: number): MaybePromise<boolean>;
}

/**
 * A store of bytes by their content, such as the files of messages. Bytes belong to no session: they stay until they are
 * removed. Every method may throw or reject with a `LogError`.
 */
export interface BlobStore {
  /**
   * Stores bytes and returns their URL; they are durable when it returns. Equal bytes have the same URL. `mediaType` is an IANA
   * media type such as `image/png`, for stores that serve what they have.
   */
  put(bytes: Uint8Array, mediaType: string): MaybePromise<string>;
  /**
   * Returns the bytes of a URL that `put` returned; undefined for any other URL, and for bytes that were removed. Fails with
   * `LogCorrupt` for bytes that are not the ones that were stored.
   */
  get(url: string): MaybePromise<Uint8Array | undefined>;
  /** Removes the bytes of a URL; does nothing if there are none. */
  remove(url: string): MaybePromise<void>;
}

/**
 * A channel for texts that live only as long as they travel, such as the tokens of an answer, between the processes that use a log.
 * Nothing is stored. Texts may be lost, such as while a connection is broken, and those of one sender arrive in the order in which
 * it published them. Both methods return at once and never throw.
 */
export interface LiveChannel {
  /**
   * Sends a text of at most `maxLiveTextLength` UTF-16 code units to all subscribers of a topic, also to those in this process. A longer
   * one is lost, and so is one that has to wait while too many others do.
   */
  publish(topic: string, text: string): void;
  /** Calls the listener with the texts that are published from soon after this call on. Returns a function that unsubscribes. */
  subscribe(topic: string, listener: (text: string) => void): () => void;
}

/**
 * A store of sessions. An id is any well-formed string of 1 to 200 UTF-16 code units; others fail with `InvalidId`. Every method
 * may throw or reject with a `LogError`.
 */
export interface EventLog {
  /** The kind of store, such as `jsonl`. */
  readonly name: string;
  /**
   * Optional. The owner of all sessions of the log, for sessions that an engine runs: their leases are in force without end, so that
   * processes post to them and read them. Default: the processes that use the log claim leases.
   */
  readonly owner?: string;
  /**
   * Creates a session and returns a handle on it. Fails with `LogExists` when the id is in use. `claim` is optional for a log;
   * `moveSession` gives it. A log that takes it creates the session with this lease in one step: no process sees the session
   * without it, also after a crash. A log that ignores it creates the session without a lease.
   */
  create(id: string, header: string, claim?: LeaseClaim): MaybePromise<SessionLog>;
  /** Returns a handle on a session; undefined when there is none, or when it was removed. */
  open(id: string): MaybePromise<SessionLog | undefined>;
  /** Returns all sessions, ordered by id in code units. */
  list(): MaybePromise<readonly LogInfo[]>;
  /**
   * Optional. Returns a page of sessions, ordered by id, in code units or in code points. A page of fewer than `limit` sessions is
   * the last one. A log has it if it does not read the other sessions for it; without it, listings use `list`.
   */
  page?(query: PageQuery): MaybePromise<readonly LogInfo[]>;
  /**
   * Optional. Returns the sessions whose header has a field `caller` that begins with a text, ordered as pages are: those of the
   * sub-agents of a session. A log has it if it does not read the other sessions for it.
   */
  called?(prefix: string): MaybePromise<readonly LogInfo[]>;
  /**
   * Optional. Returns the sessions that are due and have no unexpired lease, ordered by due time, then by id. The cost depends on
   * their number, not on that of all sessions. A session without records is not due.
   */
  due?(query: DueQuery): MaybePromise<readonly DueSession[]>;
  /** Optional. The bytes beside the sessions, which the sessions refer to by URL. */
  readonly blobs?: BlobStore;
  /** Optional. What servers show to viewers that are connected to another server than the one that runs their session. */
  readonly live?: LiveChannel;
  /** Removes a session, also a damaged one; its handles then fail with `LogRemoved`. Returns false when there was none. */
  remove(id: string): MaybePromise<boolean>;
  /** Releases timers, watchers, files and connections. Close the sessions before. Can be called more than once. */
  close(): MaybePromise<void>;
}

/** A log that `await using` closes at the end of its block: each log of these packages is one. A custom log need not be. */
export interface DisposableLog extends EventLog {
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}
