import { validateAppend, logRemoved, readStart } from "../validation.ts";
import { type ChainHead, checkedTail, copyRecords } from "../chain.ts";
import type { HeadWatch } from "../head-watch.ts";
import { inspectInTurns } from "../in-turns.ts";
import { leaseAfter } from "../lease.ts";
import { andThen } from "../maybe-promise.ts";
import type {
  Lease,
  LeaseClaim,
  LogInspection,
  LogNotice,
  LogRecord,
  MaybePromise,
  SessionLog,
  Snapshot,
} from "../port.ts";
import { rowToRecord, rowToSnapshot } from "../rows.ts";
import { snapshotSeal, soundSnapshot } from "../snapshot-seal.ts";
import { SerialQueue } from "../serial-queue.ts";
import type { Connection } from "./connection.ts";
import { Prefix, checksumToText, type SqliteGeneration } from "./prefix.ts";

const sql = {
  head: "SELECT head, digest FROM moora_sessions WHERE generation = ?",
  setHead: "UPDATE moora_sessions SET head = ?, digest = ? WHERE generation = ?",
  resetDue: `INSERT INTO moora_due VALUES (?, 0) ON CONFLICT (generation) DO UPDATE SET due = 0 WHERE due IS NOT 0`,
  saveDue: "UPDATE moora_due SET due = ? WHERE generation = ?",
  insert: "INSERT INTO moora_records (generation, seq, changes_digest, digest, body) VALUES (?, ?, ?, ?, ?)",
  read: "SELECT seq, changes_digest, digest, body FROM moora_records WHERE generation = ? AND seq >= ? ORDER BY seq LIMIT ?",
  lease: "SELECT lease_owner AS owner, lease_until AS until FROM moora_sessions WHERE generation = ?",
  saveLease: "UPDATE moora_sessions SET lease_owner = ?, lease_until = ? WHERE generation = ?",
  release: `UPDATE moora_sessions SET lease_owner = NULL, lease_until = NULL
    WHERE generation = ? AND lease_owner = ?`,
  remove: "DELETE FROM moora_sessions WHERE generation = ?",
  snapshot: `SELECT seq, p.digest, version, body, body_digest, seal FROM moora_sessions s
    LEFT JOIN moora_snapshots p ON p.generation = s.generation WHERE s.generation = ?`,
  saveSnapshot: `INSERT OR REPLACE INTO moora_snapshots (generation, seq, digest, version, body, body_digest, seal,
    prefix_seq, prefix_digest, prefix_sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
} as const;

/** A handle on one session in a SQLite database. Writes run one after the other, in the order of the calls. */
export class SqliteSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #generation: number;
  readonly #connection: Connection;
  readonly #watch: HeadWatch;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #epoch: number;
  readonly #prefix: Prefix;
  readonly #queue = new SerialQueue();

  constructor(
    generation: SqliteGeneration,
    connection: Connection,
    watch: HeadWatch,
    onNotice: (notice: LogNotice) => void,
  ) {
    this.id = generation.id;
    this.header = generation.header;
    this.#generation = generation.generation;
    this.#connection = connection;
    this.#watch = watch;
    this.#onNotice = onNotice;
    this.#epoch = connection.epoch;
    this.#prefix = new Prefix(this, connection, generation);
  }

  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void> {
    const mine = copyRecords(records);
    const append = (): void => {
      const head = validateAppend(this.#head(), expectedSeq, mine);
      for (const { seq, changesDigest, digest, body } of mine)
        this.#connection.do(sql.insert, this.#generation, seq, changesDigest, digest, body);

      if (mine.length === 0) return;
      this.#connection.do(sql.setHead, head.seq, head.digest, this.#generation);
      this.#connection.do(sql.resetDue, this.#generation);
    };
    return andThen(this.#write("append", append), () => {
      if (mine.length > 0)
        this.#watch.notify(String(this.#generation), { by: this, head: String(expectedSeq + mine.length) });
    });
  }

  saveDue(seq: number, due: number | null): MaybePromise<void> {
    return this.#write("save its due time", () => {
      if (this.#head().seq === seq) this.#connection.do(sql.saveDue, due, this.#generation);
    });
  }

  removeAt(seq: number): MaybePromise<boolean> {
    const remove = (): boolean => {
      if (this.#head().seq !== seq) return false;
      this.#connection.do(sql.remove, this.#generation);
      return true;
    };
    return andThen(this.#write("remove a session", remove), (isRemoved) => {
      if (isRemoved) this.#watch.notify(String(this.#generation));
      return isRemoved;
    });
  }

  read(afterSeq?: number, limit?: number): MaybePromise<readonly LogRecord[]> {
    const seq = readStart(afterSeq);
    return this.#connection.read("read", () => {
      const head = this.#head();
      if (seq > head.seq) return [];
      return checkedTail(this.header, { afterSeq: seq, limit, head, stored: this.#recordsFrom(seq, limit) });
    });
  }

  /** The record `seq` and those after it, `limit` of them. */
  #recordsFrom(seq: number, limit = Infinity): LogRecord[] {
    // With -1 SQLite returns all rows.
    const rows = Number.isFinite(limit) ? limit + Math.min(seq, 1) : -1;
    return this.#connection.all(sql.read, this.#generation, seq, rows).map((row) => rowToRecord(row));
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  checkUpTo(seq: number): Promise<void> {
    return this.#prefix.check(seq);
  }

  head(): MaybePromise<number> {
    return this.#connection.run("read the head", () => this.#head().seq);
  }

  lease(claim: LeaseClaim): MaybePromise<Lease> {
    return this.#write("take the lease", () => {
      const lease = leaseAfter(this.#lease(), claim);
      this.#connection.do(sql.saveLease, lease.owner, lease.until, this.#generation);
      return lease;
    });
  }

  currentLease(): MaybePromise<Lease | undefined> {
    return this.#connection.run("read the lease", () => this.#lease());
  }

  release(owner: string): MaybePromise<void> {
    return this.#queue.run(() =>
      this.#connection.run("release the lease", () =>
        this.#connection.do(sql.release, this.#generation, owner),
      ),
    );
  }

  watch(listener: () => void): () => void {
    return this.#watch.add(String(this.#generation), listener, this);
  }

  snapshot(): MaybePromise<Snapshot | undefined> {
    const read = (): Snapshot | undefined => {
      const row = this.#connection.one(sql.snapshot, this.#generation);
      if (row === undefined) throw logRemoved(this.id);
      if (row["seq"] === null) return undefined;
      return soundSnapshot(this.id, rowToSnapshot(row), row["seal"], this.#onNotice);
    };
    return this.#connection.run("read the snapshot", read);
  }

  saveSnapshot(snapshot: Snapshot): MaybePromise<void> {
    const { seq, digest, version, body, bodyDigest } = snapshot;
    const stored = [seq, digest, version, body, bodyDigest, snapshotSeal(snapshot)] as const;
    const save = async (): Promise<void> => {
      const prefix = await this.#prefix.extend();
      const sum = [prefix.seq, prefix.digest, checksumToText(prefix)] as const;
      await this.#connection.write("save the snapshot", this.#epoch, () => {
        this.#head();
        this.#connection.do(sql.saveSnapshot, this.#generation, ...stored, ...sum);
      });
    };
    return this.#queue.run(save);
  }

  #write<T>(what: string, operation: () => T): MaybePromise<T> {
    return this.#queue.run(() => this.#connection.write(what, this.#epoch, operation));
  }

  #head(): ChainHead {
    const row = this.#connection.one(sql.head, this.#generation);
    if (row === undefined) throw logRemoved(this.id);
    return { seq: Number(row["head"]), digest: String(row["digest"]) };
  }

  #lease(): Lease | undefined {
    const row = this.#connection.one(sql.lease, this.#generation);
    if (row === undefined) throw logRemoved(this.id);
    const { owner, until } = row;
    return typeof owner === "string" && typeof until === "number" ? { owner, until } : undefined;
  }
}
