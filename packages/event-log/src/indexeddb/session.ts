import { type ChainHead, chainStart, checkedTail, copyRecords } from "../chain.ts";
import type { HeadWatch } from "../head-watch.ts";
import { checkInTurns, inspectInTurns } from "../in-turns.ts";
import { leaseAfter } from "../lease.ts";
import type {
  Lease,
  LeaseClaim,
  LogInspection,
  LogNotice,
  LogRecord,
  SessionLog,
  Snapshot,
} from "../port.ts";
import { snapshotSeal, soundSnapshot } from "../snapshot-seal.ts";
import { logRemoved, readStart, validateAppend } from "../validation.ts";
import type { Channel } from "./channel.ts";
import type { Connection } from "./connection.ts";
import { type HeadRow, recordsFrom, type RecordRow, type SessionRow, sessionStores } from "./schema.ts";
import { deleteGeneration } from "./sessions.ts";
import type { Transaction } from "./transaction.ts";

/** What the handles of one log share. */
export interface LogParts {
  readonly connection: Connection;
  readonly watch: HeadWatch;
  readonly channel: Channel;
  readonly onNotice: (notice: LogNotice) => void;
}

/** A handle on one session in an IndexedDB database. Its writes run one after the other, in the order of the calls. */
export class IndexedDbSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #generation: number;
  readonly #parts: LogParts;
  /** The part of the chain that this handle has verified. */
  #verified: ChainHead;

  constructor({ generation, id, header }: SessionRow, parts: LogParts) {
    this.id = id;
    this.header = header;
    this.#generation = generation;
    this.#parts = parts;
    this.#verified = chainStart(header);
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const mine = copyRecords(records);
    const { connection, watch, channel } = this.#parts;
    await connection.run("append", "write", ["heads", "records"], async (transaction) => {
      const row = await this.#head(transaction);
      const { seq, digest } = validateAppend(row, expectedSeq, mine);
      if (mine.length === 0) return;
      for (const record of mine) transaction.put("records", recordToRow(this.#generation, record));
      transaction.put("heads", { ...row, seq, digest, due: 0 });
    });
    if (mine.length === 0) return;
    watch.notify(String(this.#generation), { by: this, head: String(expectedSeq + mine.length) });
    channel.post(this.#generation);
  }

  async read(afterSeq?: number, limit: number = Infinity): Promise<readonly LogRecord[]> {
    const seq = readStart(afterSeq);
    const { connection } = this.#parts;
    return await connection.run("read", "read", ["heads", "records"], async (transaction) => {
      const head = await this.#head(transaction);
      if (seq > head.seq) return [];
      const most = Number.isFinite(limit) ? limit + Math.min(seq, 1) : undefined;
      const rows = await transaction.getAll("records", recordsFrom(this.#generation, seq), most);
      return checkedTail(this.header, { afterSeq: seq, limit, head, stored: rows.map(rowToRecord) });
    });
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  async checkUpTo(seq: number): Promise<void> {
    this.#verified = await checkInTurns(this, this.#verified, seq);
  }

  async head(): Promise<number> {
    return (await this.#readHead("read the head")).seq;
  }

  async lease(claim: LeaseClaim): Promise<Lease> {
    return await this.#change("take the lease", (row) => {
      const lease = leaseAfter(row.lease ?? undefined, claim);
      return { row: { ...row, lease }, value: lease };
    });
  }

  async currentLease(): Promise<Lease | undefined> {
    return (await this.#readHead("read the lease")).lease ?? undefined;
  }

  async release(owner: string): Promise<void> {
    await this.#parts.connection.run("release the lease", "note", ["heads"], async (transaction) => {
      const row = await transaction.get("heads", this.#generation);
      if (row?.lease?.owner === owner) transaction.put("heads", { ...row, lease: null });
    });
  }

  async saveDue(seq: number, due: number | null): Promise<void> {
    await this.#change("save its due time", (row) => ({
      row: row.seq === seq ? { ...row, due } : row,
      value: undefined,
    }));
  }

  async removeAt(seq: number): Promise<boolean> {
    const { connection, watch, channel } = this.#parts;
    const generation = this.#generation;
    const isRemoved = await connection.run(
      "remove a session",
      "write",
      sessionStores,
      async (transaction) => {
        if ((await this.#head(transaction)).seq !== seq) return false;
        deleteGeneration(transaction, generation);
        return true;
      },
    );
    if (!isRemoved) return false;
    watch.notify(String(generation));
    channel.post(generation);
    return true;
  }

  watch(listener: () => void): () => void {
    return this.#parts.watch.add(String(this.#generation), listener, this);
  }

  async snapshot(): Promise<Snapshot | undefined> {
    const { connection, onNotice } = this.#parts;
    const row = await connection.run(
      "read the snapshot",
      "read",
      ["heads", "snapshots"],
      async (transaction) => {
        await this.#head(transaction);
        return await transaction.get("snapshots", this.#generation);
      },
    );
    if (row === undefined) return undefined;
    const { seq, digest, version, body, bodyDigest, seal } = row;
    return soundSnapshot(this.id, { seq, digest, version, body, bodyDigest }, seal, onNotice);
  }

  async saveSnapshot({ seq, digest, version, body, bodyDigest }: Snapshot): Promise<void> {
    const snapshot = { seq, digest, version, body, bodyDigest };
    const row = { generation: this.#generation, ...snapshot, seal: snapshotSeal(snapshot) };
    const { connection } = this.#parts;
    await connection.run("save the snapshot", "note", ["heads", "snapshots"], async (transaction) => {
      await this.#head(transaction);
      transaction.put("snapshots", row);
    });
  }

  /** Changes the row of the head in one transaction; `change` returns the new row and the result. */
  #change<Value>(
    what: string,
    change: (row: HeadRow) => { readonly row: HeadRow; readonly value: Value },
  ): Promise<Value> {
    return this.#parts.connection.run(what, "note", ["heads"], async (transaction) => {
      const { row, value } = change(await this.#head(transaction));
      transaction.put("heads", row);
      return value;
    });
  }

  #readHead(what: string): Promise<HeadRow> {
    return this.#parts.connection.run(what, "read", ["heads"], (transaction) => this.#head(transaction));
  }

  async #head(transaction: Transaction): Promise<HeadRow> {
    const row = await transaction.get("heads", this.#generation);
    if (row === undefined) throw logRemoved(this.id);
    return row;
  }
}

const rowToRecord = ({ seq, body, changesDigest, digest }: RecordRow): LogRecord => ({
  seq,
  body,
  changesDigest,
  digest,
});

const recordToRow = (generation: number, { seq, body, changesDigest, digest }: LogRecord): RecordRow => ({
  generation,
  seq,
  body,
  changesDigest,
  digest,
});
