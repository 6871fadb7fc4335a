import {
  type ChainHead,
  chainStart,
  type Lease,
  type LeaseClaim,
  LogError,
  type LogInspection,
  type LogNotice,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import {
  checkedTail,
  checkInTurns,
  copyRecords,
  inspectInTurns,
  keepStop,
  leaseAfter,
  type Listeners,
  logRemoved,
  readStart,
  rowToRecord,
  rowToSnapshot,
  snapshotSeal,
  soundSnapshot,
  validateAppend,
} from "@moora/event-log/store";
import { sqlText } from "../sql-text.ts";
import type { Database, Row } from "./database.ts";
import { deleteGeneration } from "./tables.ts";

/** One generation of a session: its number in the database, its id and header. */
export interface ObjectGeneration {
  readonly generation: number;
  readonly id: string;
  readonly header: string;
}

/** What the handles of one log share. */
export interface ObjectLogParts {
  readonly database: Database;
  /** Of all logs on one storage. */
  readonly listeners: Listeners;
  /** Functions that stop the watches of this log. */
  readonly stops: Set<() => void>;
  readonly onNotice: (notice: LogNotice) => void;
  /** Runs in the turn of each append: what it writes is stored with the records, or not at all. */
  readonly onAppend: () => void;
}

/** The longest body of a record, in UTF-16 code units: an object has 128 MB of memory for all that it does. */
export const maxObjectRecordLength: number = 8 * 1024 * 1024;

/** A handle on one session in the storage of an object. Writes run in the order of the calls. */
export class ObjectSessionLog implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly maxRecordLength: number = maxObjectRecordLength;
  readonly #generation: number;
  readonly #parts: ObjectLogParts;
  /** The part of the chain that this handle has verified. */
  #verified: ChainHead;

  constructor({ generation, id, header }: ObjectGeneration, parts: ObjectLogParts) {
    this.id = id;
    this.header = header;
    this.#generation = generation;
    this.#parts = parts;
    this.#verified = chainStart(header);
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const mine = copyRecords(records);
    const { database, listeners, onAppend } = this.#parts;
    const write = (): void => {
      const before = this.#head();
      if (before.seq === expectedSeq) checkLength(before.seq, mine);
      const head = validateAppend(before, expectedSeq, mine);
      for (const record of mine) this.#insert(record);
      if (mine.length === 0) return;
      const update = "UPDATE moora_sessions SET head = ?, digest = ? WHERE generation = ?";
      database.do(update, head.seq, head.digest, this.#generation);
    };
    await database.writeDurably("append", write, mine.length > 0 ? onAppend : undefined);
    if (mine.length > 0) listeners.notify(String(this.#generation), { by: this });
  }

  read(afterSeq?: number, limit: number = Infinity): readonly LogRecord[] {
    const seq = readStart(afterSeq);
    return this.#parts.database.read("read", () => {
      const head = this.#head();
      if (seq > head.seq) return [];
      const most = Number.isFinite(limit) ? limit + Math.min(seq, 1) : -1;
      return checkedTail(this.header, { afterSeq: seq, limit, head, stored: this.#records(seq, most) });
    });
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  async checkUpTo(seq: number): Promise<void> {
    this.#verified = await checkInTurns(this, this.#verified, seq);
  }

  head(): number {
    return this.#parts.database.read("read the head", () => this.#head().seq);
  }

  lease(claim: LeaseClaim): Lease {
    const { database } = this.#parts;
    return database.write("take the lease", () => {
      const lease = leaseAfter(rowToLease(this.#row()), claim);
      const update = "UPDATE moora_sessions SET lease_owner = ?, lease_until = ? WHERE generation = ?";
      database.do(update, lease.owner, lease.until, this.#generation);
      return lease;
    });
  }

  currentLease(): Lease | undefined {
    return this.#parts.database.read("read the lease", () => rowToLease(this.#row()));
  }

  release(owner: string): void {
    const { database } = this.#parts;
    const update = `UPDATE moora_sessions SET lease_owner = NULL, lease_until = NULL
      WHERE generation = ? AND lease_owner = ?`;
    database.write("release the lease", () => database.do(update, this.#generation, owner));
  }

  async removeAt(seq: number): Promise<boolean> {
    const { database, listeners } = this.#parts;
    const isRemoved = await database.writeDurably("remove a session", () => {
      if (this.#head().seq !== seq) return false;
      deleteGeneration(database, this.#generation);
      return true;
    });
    if (isRemoved) listeners.notify(String(this.#generation));
    return isRemoved;
  }

  watch(listener: () => void): () => void {
    const { listeners, stops } = this.#parts;
    return keepStop(stops, listeners.add(String(this.#generation), listener, this));
  }

  snapshot(): Snapshot | undefined {
    const { database, onNotice } = this.#parts;
    return database.read("read the snapshot", () => {
      this.#row();
      const row = database.one("SELECT * FROM moora_snapshots WHERE generation = ?", this.#generation);
      if (row === undefined) return undefined;
      const body = database.texts.read(this.#generation, "snapshot", sqlText(row["body"]));
      return soundSnapshot(this.id, { ...rowToSnapshot(row), body }, row["seal"], onNotice);
    });
  }

  saveSnapshot(snapshot: Snapshot): void {
    const { seq, digest, version, bodyDigest } = snapshot;
    const { database } = this.#parts;
    database.write("save the snapshot", () => {
      this.#row();
      database.texts.clear(this.#generation, "snapshot");
      const body = database.texts.write(this.#generation, "snapshot", snapshot.body);
      const values = [seq, digest, version, body, bodyDigest, snapshotSeal(snapshot)] as const;
      database.do(
        "INSERT OR REPLACE INTO moora_snapshots VALUES (?, ?, ?, ?, ?, ?, ?)",
        this.#generation,
        ...values,
      );
    });
  }

  #insert({ seq, body, changesDigest, digest }: LogRecord): void {
    const { database } = this.#parts;
    const first = database.texts.write(this.#generation, `record ${seq}`, body);
    const insert = `INSERT INTO moora_records (generation, seq, changes_digest, digest, body) VALUES (?, ?, ?, ?, ?)`;
    database.do(insert, this.#generation, seq, changesDigest, digest, first);
  }

  #records(from: number, limit: number): LogRecord[] {
    const { database } = this.#parts;
    const query = `SELECT seq, changes_digest, digest, body FROM moora_records
      WHERE generation = ? AND seq >= ? ORDER BY seq LIMIT ?`;
    return database.all(query, this.#generation, from, limit).map((row) => {
      const record = rowToRecord(row);
      return { ...record, body: database.texts.read(this.#generation, `record ${record.seq}`, record.body) };
    });
  }

  #head(): ChainHead {
    const row = this.#row();
    return { seq: Number(row["head"]), digest: sqlText(row["digest"]) };
  }

  #row(): Row {
    const query = "SELECT head, digest, lease_owner, lease_until FROM moora_sessions WHERE generation = ?";
    const row = this.#parts.database.one(query, this.#generation);
    if (row === undefined) throw logRemoved(this.id);
    return row;
  }
}

/** Throws `InvalidRecord` for records that are too long for an object. */
function checkLength(headSeq: number, records: readonly LogRecord[]): void {
  const length = records.reduce((sum, { body }) => sum + body.length, 0);
  if (length <= maxObjectRecordLength) return;
  throw new LogError(
    "InvalidRecord",
    `The bodies of this append are ${length} characters long; the limit in a Durable Object is ${maxObjectRecordLength}.`,
    { seq: headSeq + 1 },
  );
}

function rowToLease({ lease_owner: owner, lease_until: until }: Row): Lease | undefined {
  return typeof owner === "string" && typeof until === "number" ? { owner, until } : undefined;
}
