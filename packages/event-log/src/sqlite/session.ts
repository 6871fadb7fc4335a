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
import { wholeTexts, type RowTexts, type SqlDatabase, type SqlRow, type SqlValue } from "./sql-database.ts";

const sql = {
  session: "SELECT head, digest, lease_owner, lease_until FROM moora_sessions WHERE generation = ?",
  setHead: "UPDATE moora_sessions SET head = ?, digest = ? WHERE generation = ?",
  insert: "INSERT INTO moora_records (generation, seq, changes_digest, digest, body) VALUES (?, ?, ?, ?, ?)",
  read: "SELECT seq, changes_digest, digest, body FROM moora_records WHERE generation = ? AND seq >= ? ORDER BY seq LIMIT ?",
  saveLease: "UPDATE moora_sessions SET lease_owner = ?, lease_until = ? WHERE generation = ?",
  release: `UPDATE moora_sessions SET lease_owner = NULL, lease_until = NULL
    WHERE generation = ? AND lease_owner = ?`,
  snapshot: `SELECT seq, p.digest, version, body, body_digest, seal FROM moora_sessions s
    LEFT JOIN moora_snapshots p ON p.generation = s.generation WHERE s.generation = ?`,
} as const;

/** One generation of a session: its number in the database, its id and header. */
export interface SqlGeneration {
  readonly generation: number;
  readonly id: string;
  readonly header: string;
}

/** Verifies the first records of a session, which a session that starts from a snapshot does not read. */
export interface PrefixCheck {
  /** What `SessionLog.checkUpTo` does. */
  check(seq: number): Promise<void>;
  /** The further columns of the row of a snapshot that is saved now. */
  columns(): MaybePromise<Readonly<Record<string, SqlValue>>>;
}

/** What the handles of one log share. */
export interface SqlParts {
  readonly database: SqlDatabase;
  readonly watch: Pick<HeadWatch, "add" | "notify">;
  readonly onNotice: (notice: LogNotice) => void;
  /** Default: each text is in the row of its owner. */
  readonly texts?: RowTexts;
  /** The longest body, and the limit for all bodies of one append together. Default: `maxRecordLength` of this package. */
  readonly maxRecordLength?: number;
  readonly prefixOf: (log: Pick<SessionLog, "read">, generation: SqlGeneration) => PrefixCheck;
  /** Runs in the transaction of each append: what it writes is stored with the records, or not at all. */
  readonly onAppend: (generation: number) => void;
  /** Deletes the rows of a generation, in a transaction. */
  readonly remove: (generation: number) => void;
  /** Writes when the work of a session continues, in a transaction. Default: the log has no `due`. */
  readonly saveDue?: (generation: number, due: number | null) => void;
}

/** A handle on one session in a SQLite database. Writes run one after the other, in the order of the calls. */
export class SqlSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly maxRecordLength?: number;
  readonly saveDue?: NonNullable<SessionLog["saveDue"]>;
  readonly #generation: number;
  readonly #parts: SqlParts;
  readonly #database: SqlDatabase;
  readonly #texts: RowTexts;
  readonly #epoch: number;
  readonly #prefix: PrefixCheck;
  readonly #queue = new SerialQueue();

  constructor(generation: SqlGeneration, parts: SqlParts) {
    const { database, texts = wholeTexts, saveDue } = parts;
    this.id = generation.id;
    this.header = generation.header;
    if (parts.maxRecordLength !== undefined) this.maxRecordLength = parts.maxRecordLength;
    this.#generation = generation.generation;
    this.#parts = parts;
    this.#database = database;
    this.#texts = texts;
    this.#epoch = database.epoch;
    this.#prefix = parts.prefixOf(this, generation);
    if (saveDue === undefined) return;
    this.saveDue = (seq, due) =>
      this.#write("save its due time", () => {
        if (this.#head().seq === seq) saveDue(this.#generation, due);
      });
  }

  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void> {
    const mine = copyRecords(records);

    const append = (): void => {
      const head = validateAppend(this.#head(), expectedSeq, mine, this.maxRecordLength);
      if (mine.length === 0) return;
      for (const { seq, changesDigest, digest, body } of mine) {
        const stored = this.#texts.write(this.#generation, seq, body);
        this.#database.do(sql.insert, this.#generation, seq, changesDigest, digest, stored);
      }
      this.#database.do(sql.setHead, head.seq, head.digest, this.#generation);
      this.#parts.onAppend(this.#generation);
    };
    return andThen(this.#write("append", append), () => {
      if (mine.length === 0) return;
      const head = String(expectedSeq + mine.length);
      this.#parts.watch.notify(String(this.#generation), { by: this, head });
    });
  }

  removeAt(seq: number): MaybePromise<boolean> {
    const remove = (): boolean => {
      if (this.#head().seq !== seq) return false;
      this.#parts.remove(this.#generation);
      return true;
    };
    return andThen(this.#write("remove a session", remove), (isRemoved) => {
      if (isRemoved) this.#parts.watch.notify(String(this.#generation));
      return isRemoved;
    });
  }

  read(afterSeq?: number, limit?: number): MaybePromise<readonly LogRecord[]> {
    const seq = readStart(afterSeq);
    return this.#database.read("read", () => {
      const head = this.#head();
      if (seq > head.seq) return [];
      return checkedTail(this.header, { afterSeq: seq, limit, head, stored: this.#recordsFrom(seq, limit) });
    });
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  checkUpTo(seq: number): Promise<void> {
    return this.#prefix.check(seq);
  }

  head(): MaybePromise<number> {
    return this.#database.run("read the head", () => this.#head().seq);
  }

  lease(claim: LeaseClaim): MaybePromise<Lease> {
    return this.#write("take the lease", () => {
      const lease = leaseAfter(rowToLease(this.#row()), claim);
      this.#database.do(sql.saveLease, lease.owner, lease.until, this.#generation);
      return lease;
    });
  }

  currentLease(): MaybePromise<Lease | undefined> {
    return this.#database.run("read the lease", () => rowToLease(this.#row()));
  }

  release(owner: string): MaybePromise<void> {
    const release = (): void => this.#database.do(sql.release, this.#generation, owner);
    return this.#queue.run(() => this.#database.run("release the lease", release));
  }

  watch(listener: () => void): () => void {
    return this.#parts.watch.add(String(this.#generation), listener, this);
  }

  snapshot(): MaybePromise<Snapshot | undefined> {
    return this.#database.read("read the snapshot", () => {
      const row = this.#database.one(sql.snapshot, this.#generation);
      if (row === undefined) throw logRemoved(this.id);
      if (row["seq"] === null) return undefined;
      const stored = rowToSnapshot(row);
      const body = this.#texts.read(this.#generation, "snapshot", stored.body);
      return soundSnapshot(this.id, { ...stored, body }, row["seal"], this.#parts.onNotice);
    });
  }

  saveSnapshot(snapshot: Snapshot): MaybePromise<void> {
    const { seq, digest, version, body, bodyDigest: body_digest } = snapshot;
    const stored = { seq, digest, version, body_digest, seal: snapshotSeal(snapshot) };
    const save = async (): Promise<void> => {
      const columns = { generation: this.#generation, ...stored, ...(await this.#prefix.columns()) };
      await this.#database.write("save the snapshot", this.#epoch, () => {
        this.#row();
        this.#texts.clear(this.#generation, "snapshot");
        this.#replaceSnapshot({ ...columns, body: this.#texts.write(this.#generation, "snapshot", body) });
      });
    };
    return this.#queue.run(save);
  }

  #replaceSnapshot(columns: Readonly<Record<string, SqlValue>>): void {
    const names = Object.keys(columns);
    const places = names.map(() => "?").join(", ");
    const replace = `INSERT OR REPLACE INTO moora_snapshots (${names.join(", ")}) VALUES (${places})`;
    this.#database.do(replace, ...Object.values(columns));
  }

  /** The record `seq` and those after it, `limit` of them. */
  #recordsFrom(seq: number, limit = Infinity): LogRecord[] {
    // With -1 SQLite returns all rows.
    const rows = Number.isFinite(limit) ? limit + Math.min(seq, 1) : -1;
    const texts = this.#texts;
    return this.#database.all(sql.read, this.#generation, seq, rows).map((row) => {
      const record = rowToRecord(row);
      if (texts === wholeTexts) return record;
      return { ...record, body: texts.read(this.#generation, record.seq, record.body) };
    });
  }

  #write<T>(what: string, operation: () => T): MaybePromise<T> {
    return this.#queue.run(() => this.#database.write(what, this.#epoch, operation));
  }

  #head(): ChainHead {
    const row = this.#row();
    return { seq: Number(row["head"]), digest: String(row["digest"]) };
  }

  #row(): SqlRow {
    const row = this.#database.one(sql.session, this.#generation);
    if (row === undefined) throw logRemoved(this.id);
    return row;
  }
}

function rowToLease({ lease_owner: owner, lease_until: until }: SqlRow): Lease | undefined {
  return typeof owner === "string" && typeof until === "number" ? { owner, until } : undefined;
}
