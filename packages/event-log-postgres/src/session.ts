import {
  checkedAppend,
  checkedChain,
  type ChainHead,
  chainStart,
  type Lease,
  leaseAfter,
  type LeaseClaim,
  logCorrupt,
  type LogNotice,
  type LogRecord,
  logRemoved,
  readStart,
  type SessionLog,
  type Snapshot,
  snapshotSeal,
} from "@moora/event-log";
import { appendOnce, headNow } from "./append.ts";
import type { Database, Row } from "./database.ts";
import type { DatabaseWatch } from "./database-watch.ts";
import { storedToText, textToStored } from "./stored-text.ts";

/** One life of a session: its key in the tables, its id and header. */
export interface PostgresLife {
  readonly life: string;
  readonly id: string;
  readonly header: string;
}

/** A handle on one session in a PostgreSQL database. */
export class PostgresSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #life: PostgresLife;
  readonly #database: Database;
  readonly #watch: DatabaseWatch;
  readonly #onNotice: (notice: LogNotice) => void;
  /** The newest head that this handle has seen: what it can check records against without asking. */
  #seen: ChainHead;
  /** Appends of one handle take turns, so that they land in the order in which they were made. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    life: PostgresLife,
    database: Database,
    watch: DatabaseWatch,
    onNotice: (notice: LogNotice) => void,
  ) {
    this.id = life.id;
    this.header = life.header;
    this.#life = life;
    this.#database = database;
    this.#watch = watch;
    this.#onNotice = onNotice;
    this.#seen = chainStart(life.header);
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const mine = records.map((record) => ({ ...record }));
    const turn = this.#turn.then(async () => this.#append(expectedSeq, mine));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async read(afterSeq?: number): Promise<readonly LogRecord[]> {
    const seq = Math.min(readStart(afterSeq), Number.MAX_SAFE_INTEGER);
    const { statements } = this.#database;
    const rows = await this.#database.rows("read", statements.read, this.#life.life, seq);
    if (rows.length === 0) throw logRemoved(this.id);
    const records = rows.filter((row) => row["seq"] !== null).map(rowToRecord);
    if (records.length === 0) return records;
    const before = seq === 0 ? chainStart(this.header) : records.shift();
    if (before?.seq !== seq) throw logCorrupt(seq);
    this.#seen = checkedChain(before, records).at(-1) ?? before;
    return records;
  }

  async head(): Promise<number> {
    return (await this.#askHead()).seq;
  }

  async lease(claim: LeaseClaim): Promise<Lease> {
    const { statements } = this.#database;
    return this.#database.run("lease", async (query) => {
      for (;;) {
        const [row] = await query(statements.lease, this.#life.life);
        if (row === undefined) throw logRemoved(this.id);
        const { owner, until } = row;
        const isTaken = typeof owner === "string" && typeof until === "number";
        const lease = leaseAfter(isTaken ? { owner: storedToText(owner), until } : undefined, claim);
        if (lease.owner !== claim.owner) return lease;
        const values = [textToStored(lease.owner), lease.until, owner, until];
        const isSet = await query(statements.setLease, this.#life.life, ...values);
        if (isSet.length > 0) return lease;
      }
    });
  }

  async release(owner: string): Promise<void> {
    const { statements } = this.#database;
    await this.#database.rows("release", statements.release, this.#life.life, textToStored(owner));
  }

  watch(listener: () => void): () => void {
    return this.#watch.add(this.#life.life, listener);
  }

  async snapshot(): Promise<Snapshot | undefined> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows("snapshot", statements.snapshot, this.#life.life);
    if (row === undefined) throw logRemoved(this.id);
    if (row["seq"] === null) return undefined;
    const snapshot = rowToSnapshot(row);
    if (row["seal"] === snapshotSeal(snapshot)) return snapshot;
    const droppedBytes = Buffer.byteLength(snapshot.body);
    this.#onNotice({ type: "damaged-snapshot", id: this.id, afterSeq: 0, droppedBytes });
    return undefined;
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    const { statements } = this.#database;
    const texts = [snapshot.digest, snapshot.version, snapshot.body].map(textToStored);
    const values = [this.#life.life, snapshot.seq, ...texts, snapshotSeal(snapshot)];
    const rows = await this.#database.rows("saveSnapshot", statements.saveSnapshot, ...values);
    if (rows.length === 0) throw logRemoved(this.id);
  }

  async #append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const head = this.#isSound(expectedSeq, records) ? this.#seen : await this.#askHead();
    const { seq, digest } = checkedAppend(head, expectedSeq, records);
    if (records.length === 0) return;
    await appendOnce(this.#database, this.#life, head, records);
    this.#seen = { seq, digest };
    this.#watch.notify(this.#life.life);
  }

  /** Whether records fit what this handle has seen; when they do not, the server is asked before they are refused. */
  #isSound(expectedSeq: number, records: readonly LogRecord[]): boolean {
    if (records.length === 0) return false;
    try {
      checkedAppend(this.#seen, expectedSeq, records);
      return true;
    } catch {
      return false;
    }
  }

  async #askHead(): Promise<ChainHead> {
    this.#seen = await this.#database.run("head", async (query) =>
      headNow(this.#database, query, this.#life),
    );
    return this.#seen;
  }
}

const rowToRecord = (row: Row): LogRecord => ({
  seq: Number(row["seq"]),
  body: storedToText(String(row["body"])),
  changed: storedToText(String(row["changed"])),
  digest: String(row["digest"]),
});

const rowToSnapshot = (row: Row): Snapshot => ({
  seq: Number(row["seq"]),
  digest: storedToText(String(row["digest"])),
  version: storedToText(String(row["version"])),
  body: storedToText(String(row["body"])),
});
