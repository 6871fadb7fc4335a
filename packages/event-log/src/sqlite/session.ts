import { checkedAppend, logRemoved, readStart } from "../admission.ts";
import { type ChainHead, chainStart, checkedChain, logCorrupt } from "../chain.ts";
import { leaseAfter } from "../lease.ts";
import type { Lease, LeaseClaim, LogNotice, LogRecord, SessionLog, Snapshot } from "../port.ts";
import { snapshotSeal } from "../sealed-snapshot.ts";
import type { Connection, Row } from "./connection.ts";
import type { DatabaseWatch } from "./database-watch.ts";

const sql = {
  head: "SELECT head, digest FROM moora_sessions WHERE life = ?",
  setHead: "UPDATE moora_sessions SET head = ?, digest = ? WHERE life = ?",
  insert: "INSERT INTO moora_records (life, seq, changed, digest, body) VALUES (?, ?, ?, ?, ?)",
  read: "SELECT seq, changed, digest, body FROM moora_records WHERE life = ? AND seq >= ? ORDER BY seq",
  lease: "SELECT lease_owner AS owner, lease_until AS until FROM moora_sessions WHERE life = ?",
  saveLease: "UPDATE moora_sessions SET lease_owner = ?, lease_until = ? WHERE life = ?",
  release: `UPDATE moora_sessions SET lease_owner = NULL, lease_until = NULL
    WHERE life = ? AND lease_owner = ?`,
  snapshot: `SELECT seq, p.digest, version, body, seal FROM moora_sessions s
    LEFT JOIN moora_snapshots p ON p.life = s.life WHERE s.life = ?`,
  saveSnapshot: `INSERT OR REPLACE INTO moora_snapshots (life, seq, digest, version, body, seal)
    VALUES (?, ?, ?, ?, ?, ?)`,
} as const;

/** One life of a session: its number in the database, its id and header. */
export interface SqliteLife {
  readonly life: number;
  readonly id: string;
  readonly header: string;
}

/** A handle on one session in a SQLite database. */
export class SqliteSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #life: number;
  readonly #connection: Connection;
  readonly #watch: DatabaseWatch;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #epoch: number;

  constructor(
    { life, id, header }: SqliteLife,
    connection: Connection,
    watch: DatabaseWatch,
    onNotice: (notice: LogNotice) => void,
  ) {
    this.id = id;
    this.header = header;
    this.#life = life;
    this.#connection = connection;
    this.#watch = watch;
    this.#onNotice = onNotice;
    this.#epoch = connection.epoch;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    this.#write("append", () => {
      const head = checkedAppend(this.#head(), expectedSeq, records);
      for (const { seq, changed, digest, body } of records) {
        this.#connection.do(sql.insert, this.#life, seq, changed, digest, body);
      }
      if (records.length > 0) this.#connection.do(sql.setHead, head.seq, head.digest, this.#life);
    });
    if (records.length > 0) this.#watch.notify(this.#life);
  }

  read(afterSeq?: number): readonly LogRecord[] {
    const seq = readStart(afterSeq);
    return this.#connection.read("read", () => {
      const head = this.#head();
      if (seq >= head.seq) return [];
      const records = this.#connection.all(sql.read, this.#life, seq).map(rowToRecord);
      const before = seq === 0 ? chainStart(this.header) : records.shift();
      if (before?.seq !== seq) throw logCorrupt(seq);
      checkedChain(before, records);
      const last = records.at(-1) ?? before;
      if (last.seq !== head.seq || last.digest !== head.digest) {
        throw logCorrupt(Math.min(last.seq + 1, head.seq));
      }
      return records;
    });
  }

  head(): number {
    return this.#connection.run("head", () => this.#head().seq);
  }

  lease(claim: LeaseClaim): Lease {
    return this.#write("lease", () => {
      const row = this.#connection.one(sql.lease, this.#life);
      if (row === undefined) throw logRemoved(this.id);
      const { owner, until } = row;
      const isHeld = typeof owner === "string" && typeof until === "number";
      const lease = leaseAfter(isHeld ? { owner, until } : undefined, claim);
      this.#connection.do(sql.saveLease, lease.owner, lease.until, this.#life);
      return lease;
    });
  }

  release(owner: string): void {
    this.#connection.run("release", () => this.#connection.do(sql.release, this.#life, owner));
  }

  watch(listener: () => void): () => void {
    return this.#watch.add(this.#life, listener);
  }

  snapshot(): Snapshot | undefined {
    const row = this.#connection.run("snapshot", () => this.#connection.one(sql.snapshot, this.#life));
    if (row === undefined) throw logRemoved(this.id);
    if (row["seq"] === null) return undefined;
    const snapshot = rowToSnapshot(row);
    if (row["seal"] === snapshotSeal(snapshot)) return snapshot;
    const droppedBytes = Buffer.byteLength(snapshot.body);
    this.#onNotice({ type: "damaged-snapshot", id: this.id, afterSeq: 0, droppedBytes });
    return undefined;
  }

  saveSnapshot(snapshot: Snapshot): void {
    const { seq, digest, version, body } = snapshot;
    this.#write("saveSnapshot", () => {
      this.#head();
      this.#connection.do(sql.saveSnapshot, this.#life, seq, digest, version, body, snapshotSeal(snapshot));
    });
  }

  #write<T>(what: string, operation: () => T): T {
    return this.#connection.write(what, this.#epoch, operation);
  }

  #head(): ChainHead {
    const row = this.#connection.one(sql.head, this.#life);
    if (row === undefined) throw logRemoved(this.id);
    return { seq: Number(row["head"]), digest: String(row["digest"]) };
  }
}

const rowToRecord = (row: Row): LogRecord => ({
  seq: Number(row["seq"]),
  body: String(row["body"]),
  changed: String(row["changed"]),
  digest: String(row["digest"]),
});

const rowToSnapshot = (row: Row): Snapshot => ({
  seq: Number(row["seq"]),
  digest: String(row["digest"]),
  version: String(row["version"]),
  body: String(row["body"]),
});
