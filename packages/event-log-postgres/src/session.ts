import {
  checkedChain,
  type ChainHead,
  chainStart,
  type Lease,
  type LeaseClaim,
  type LogInspection,
  type LogNotice,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import {
  checkInTurns,
  copyRecords,
  inspectInTurns,
  validateAppend,
  type HeadWatch,
  leaseAfter,
  logCorrupt,
  logRemoved,
  readStart,
  rowToRecord,
  rowToSnapshot,
  snapshotSeal,
  soundSnapshot,
} from "@moora/event-log/store";
import { appendOnce, readHead, type PostgresGeneration } from "./append.ts";
import type { Database, Row } from "./database.ts";
import { Prefix } from "./prefix.ts";
import { storedToText, textToStored } from "./stored-text.ts";

/** A handle on one session in a PostgreSQL database. */
export class PostgresSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #generation: PostgresGeneration;
  readonly #database: Database;
  readonly #watch: HeadWatch;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #prefix: Prefix;
  /** The last head that this handle has read, against which it can check records without a query. */
  #knownHead: ChainHead;
  /** Appends of one handle run one after the other, in the order of the calls. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    generation: PostgresGeneration,
    database: Database,
    watch: HeadWatch,
    onNotice: (notice: LogNotice) => void,
  ) {
    this.id = generation.id;
    this.header = generation.header;
    this.#generation = generation;
    this.#database = database;
    this.#watch = watch;
    this.#onNotice = onNotice;
    this.#prefix = new Prefix(database, generation);
    this.#knownHead = chainStart(generation.header);
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const mine = copyRecords(records);
    const turn = this.#turn.then(async () => this.#append(expectedSeq, mine));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async read(afterSeq?: number, limit?: number): Promise<readonly LogRecord[]> {
    const seq = Math.min(readStart(afterSeq), Number.MAX_SAFE_INTEGER);
    // With the record before them.
    const records = await this.#recordsFrom(seq, limit === undefined ? undefined : limit + Math.min(seq, 1));
    if (records.length === 0) return records;
    const before = seq === 0 ? chainStart(this.header) : records.shift();
    if (before?.seq !== seq) throw logCorrupt(seq);
    const last = checkedChain(before, records).at(-1) ?? before;
    if (records.length !== limit) this.#knownHead = last;
    return records;
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  async checkUpTo(seq: number): Promise<void> {
    if (!(await this.#prefix.isSame(seq))) await checkInTurns(this, chainStart(this.header), seq);
  }

  async head(): Promise<number> {
    return (await this.#readHead()).seq;
  }

  async lease(claim: LeaseClaim): Promise<Lease> {
    const { statements } = this.#database;
    return this.#database.run("take the lease", async (query) => {
      for (;;) {
        const row = this.#rowOrRemoved(await query(statements.lease, this.#generation.generation));
        const lease = leaseAfter(rowToLease(row), claim);
        if (lease.owner !== claim.owner) return lease;
        const values = [textToStored(lease.owner), lease.until, row["owner"], row["until"]];
        const isSet = await query(statements.setLease, this.#generation.generation, ...values);
        if (isSet.length > 0) return lease;
      }
    });
  }

  async currentLease(): Promise<Lease | undefined> {
    const { statements } = this.#database;
    return rowToLease(
      this.#rowOrRemoved(
        await this.#database.rows("read the lease", statements.lease, this.#generation.generation),
      ),
    );
  }

  async release(owner: string): Promise<void> {
    const { statements } = this.#database;
    await this.#database.rows(
      "release the lease",
      statements.release,
      this.#generation.generation,
      textToStored(owner),
    );
  }

  watch(listener: () => void): () => void {
    return this.#watch.add(this.#generation.generation, listener, this);
  }

  async snapshot(): Promise<Snapshot | undefined> {
    const { statements } = this.#database;
    const row = this.#rowOrRemoved(
      await this.#database.rows("read the snapshot", statements.snapshot, this.#generation.generation),
    );
    if (row["seq"] === null) return undefined;
    return soundSnapshot(this.id, rowToSnapshot(row, storedToText), row["seal"], this.#onNotice);
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    const { statements } = this.#database;
    const { seq, digest, version, body, bodyDigest } = snapshot;
    const texts = [digest, version, body, bodyDigest].map(textToStored);
    const prefix = await this.#prefix.extend();
    const values = [seq, ...texts, snapshotSeal(snapshot), prefix.seq, prefix.sum];
    this.#rowOrRemoved(
      await this.#database.rows(
        "save the snapshot",
        statements.saveSnapshot,
        this.#generation.generation,
        ...values,
      ),
    );
  }

  async saveDue(seq: number, due: number | null): Promise<void> {
    const { statements } = this.#database;
    await this.#database.rows("save its due time", statements.saveDue, this.#generation.generation, seq, due);
  }

  async removeAt(seq: number): Promise<boolean> {
    const { generation } = this.#generation;
    const isRemoved = await this.#database.run("remove a session", async (query, isRetry) => {
      if ((await query(this.#database.statements.removeAt, generation, seq)).length > 0) return true;
      const rows = await query(this.#database.statements.head, generation);
      // The attempt before, whose response was lost, has removed it.
      if (rows.length === 0 && isRetry) return true;
      this.#rowOrRemoved(rows);
      return false;
    });
    if (isRemoved) this.#watch.notify(generation);
    return isRemoved;
  }

  async #append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const head = this.#continuesKnownHead(expectedSeq, records) ? this.#knownHead : await this.#readHead();
    const { seq, digest } = validateAppend(head, expectedSeq, records);
    if (records.length === 0) return;
    await appendOnce(this.#database, this.#generation, head, records);
    this.#knownHead = { seq, digest };
    this.#watch.notify(this.#generation.generation, { by: this, head: String(seq) });
  }

  /** Whether records continue the known head. If they do not, the head is read before they are rejected. */
  #continuesKnownHead(expectedSeq: number, records: readonly LogRecord[]): boolean {
    if (records.length === 0) return false;
    try {
      validateAppend(this.#knownHead, expectedSeq, records);
      return true;
    } catch {
      return false;
    }
  }

  async #readHead(): Promise<ChainHead> {
    this.#knownHead = await this.#database.run("read the head", async (query) =>
      readHead(this.#database, query, this.#generation),
    );
    return this.#knownHead;
  }

  async #recordsFrom(seq: number, limit = Infinity): Promise<LogRecord[]> {
    const rows = await this.#database.rows(
      "read",
      this.#database.statements.read,
      this.#generation.generation,
      seq,
      Number.isFinite(limit) ? limit : null,
    );
    this.#rowOrRemoved(rows);
    return rows.filter((row) => row["seq"] !== null).map((row) => rowToRecord(row, storedToText));
  }

  /** Returns the first row of a result that has one if the session exists. Throws `LogRemoved` otherwise. */
  #rowOrRemoved([row]: readonly Row[]): Row {
    if (row === undefined) throw logRemoved(this.id);
    return row;
  }
}

function rowToLease({ owner, until }: Row): Lease | undefined {
  const isTaken = typeof owner === "string" && typeof until === "number";
  return isTaken ? { owner: storedToText(owner), until } : undefined;
}
