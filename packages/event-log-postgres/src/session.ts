import {
  validateAppend,
  checkedChain,
  type ChainHead,
  chainStart,
  type HeadWatch,
  isUndamaged,
  type Lease,
  leaseAfter,
  type LeaseClaim,
  logCorrupt,
  type LogInspection,
  type LogNotice,
  type LogRecord,
  logRemoved,
  readStart,
  rowToRecord,
  rowToSnapshot,
  type SessionLog,
  type Snapshot,
  snapshotSeal,
  soundPart,
} from "@moora/event-log";
import { appendOnce, headNow } from "./append.ts";
import type { Database, Row } from "./database.ts";
import { Prefix } from "./prefix.ts";
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
  readonly #watch: HeadWatch;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #prefix: Prefix;
  /** The newest head that this handle has seen: what it can check records against without asking. */
  #seen: ChainHead;
  /** Appends of one handle take turns, so that they land in the order in which they were made. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    life: PostgresLife,
    database: Database,
    watch: HeadWatch,
    onNotice: (notice: LogNotice) => void,
  ) {
    this.id = life.id;
    this.header = life.header;
    this.#life = life;
    this.#database = database;
    this.#watch = watch;
    this.#onNotice = onNotice;
    this.#prefix = new Prefix(database, life);
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
    const records = await this.#recordsFrom(seq);
    if (records.length === 0) return records;
    const before = seq === 0 ? chainStart(this.header) : records.shift();
    if (before?.seq !== seq) throw logCorrupt(seq);
    this.#seen = checkedChain(before, records).at(-1) ?? before;
    return records;
  }

  async inspect(): Promise<LogInspection> {
    const records = await this.#recordsFrom(0);
    return { ...soundPart(chainStart(this.header), records), unfinishedBytes: 0 };
  }

  async checkUpTo(seq: number): Promise<void> {
    if (await this.#prefix.isSame(seq)) return;
    const records = await this.read();
    if (records.length < seq) throw logCorrupt(records.length + 1);
  }

  async head(): Promise<number> {
    return (await this.#askHead()).seq;
  }

  async lease(claim: LeaseClaim): Promise<Lease> {
    const { statements } = this.#database;
    return this.#database.run("lease", async (query) => {
      for (;;) {
        const row = this.#living(await query(statements.lease, this.#life.life));
        const lease = leaseAfter(rowToLease(row), claim);
        if (lease.owner !== claim.owner) return lease;
        const values = [textToStored(lease.owner), lease.until, row["owner"], row["until"]];
        const isSet = await query(statements.setLease, this.#life.life, ...values);
        if (isSet.length > 0) return lease;
      }
    });
  }

  async currentLease(): Promise<Lease | undefined> {
    const { statements } = this.#database;
    return rowToLease(this.#living(await this.#database.rows("lease", statements.lease, this.#life.life)));
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
    const row = this.#living(await this.#database.rows("snapshot", statements.snapshot, this.#life.life));
    if (row["seq"] === null) return undefined;
    const snapshot = rowToSnapshot(row, storedToText);
    if (isUndamaged(snapshot, row["seal"])) return snapshot;
    const droppedBytes = Buffer.byteLength(snapshot.body);
    this.#onNotice({ type: "damaged-snapshot", id: this.id, afterSeq: snapshot.seq, droppedBytes });
    return undefined;
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    const { statements } = this.#database;
    const { seq, digest, version, body, bodyDigest } = snapshot;
    const texts = [digest, version, body, bodyDigest].map(textToStored);
    const prefix = await this.#prefix.extended();
    const values = [seq, ...texts, snapshotSeal(snapshot), prefix.seq, prefix.sum];
    this.#living(
      await this.#database.rows("saveSnapshot", statements.saveSnapshot, this.#life.life, ...values),
    );
  }

  async #append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const head = this.#isSound(expectedSeq, records) ? this.#seen : await this.#askHead();
    const { seq, digest } = validateAppend(head, expectedSeq, records);
    if (records.length === 0) return;
    await appendOnce(this.#database, this.#life, head, records);
    this.#seen = { seq, digest };
    this.#watch.notify(this.#life.life);
  }

  /** Whether records fit what this handle has seen; when they do not, the server is asked before they are refused. */
  #isSound(expectedSeq: number, records: readonly LogRecord[]): boolean {
    if (records.length === 0) return false;
    try {
      validateAppend(this.#seen, expectedSeq, records);
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

  async #recordsFrom(seq: number): Promise<LogRecord[]> {
    const rows = await this.#database.rows("read", this.#database.statements.read, this.#life.life, seq);
    this.#living(rows);
    return rows.filter((row) => row["seq"] !== null).map((row) => rowToRecord(row, storedToText));
  }

  /** The first row of an answer that has one as long as the session lives. */
  #living([row]: readonly Row[]): Row {
    if (row === undefined) throw logRemoved(this.id);
    return row;
  }
}

function rowToLease({ owner, until }: Row): Lease | undefined {
  const isTaken = typeof owner === "string" && typeof until === "number";
  return isTaken ? { owner: storedToText(owner), until } : undefined;
}
