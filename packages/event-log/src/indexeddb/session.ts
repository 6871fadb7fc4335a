import { type ChainHead, chainStart, checkedChain, copyRecords, inspectChain, logCorrupt } from "../chain.ts";
import type { HeadWatch } from "../head-watch.ts";
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
import { isUndamaged, snapshotSeal } from "../snapshot-seal.ts";
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

const rowsPerChunk = 1_000;

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

  async read(afterSeq?: number): Promise<readonly LogRecord[]> {
    const seq = readStart(afterSeq);
    return await this.#read("read", async (transaction) => {
      const head = await this.#head(transaction);
      if (seq >= head.seq) return [];
      const records = await this.#records(transaction, seq);
      const before = seq === 0 ? chainStart(this.header) : records.shift();
      if (before?.seq !== seq) throw logCorrupt(seq);
      const { damage } = inspectChain(before, records, head);
      if (damage !== undefined) throw damage;
      return records;
    });
  }

  async inspect(): Promise<LogInspection> {
    return await this.#read("be inspected", async (transaction) => {
      const head = await this.#head(transaction);
      const records = await this.#records(transaction, 0);
      return { ...inspectChain(chainStart(this.header), records, head), unfinishedBytes: 0 };
    });
  }

  async checkUpTo(seq: number): Promise<void> {
    do this.#verified = await this.#verifyChunk(seq);
    while (this.#verified.seq < seq);
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
    const snapshot = { seq, digest, version, body, bodyDigest };
    if (isUndamaged(snapshot, seal)) return snapshot;
    const droppedBytes = new TextEncoder().encode(body).length;
    onNotice({ type: "damaged-snapshot", id: this.id, afterSeq: seq, droppedBytes });
    return undefined;
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

  /** Verifies the next records up to `seq`. Returns the end of the chain that is verified then. */
  async #verifyChunk(seq: number): Promise<ChainHead> {
    return await this.#read("check its records", async (transaction) => {
      const head = await this.#head(transaction);
      if (seq > head.seq) throw logCorrupt(head.seq + 1);
      const from = this.#verified;
      if (from.seq >= seq) return from;
      const rows = await this.#records(transaction, from.seq + 1, rowsPerChunk);
      const last = checkedChain(from, rows).at(-1);
      if (last === undefined) throw logCorrupt(from.seq + 1);
      return { seq: last.seq, digest: last.digest };
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

  #read<Value>(what: string, operation: (transaction: Transaction) => Promise<Value>): Promise<Value> {
    return this.#parts.connection.run(what, "read", ["heads", "records"], operation);
  }

  #readHead(what: string): Promise<HeadRow> {
    return this.#parts.connection.run(what, "read", ["heads"], (transaction) => this.#head(transaction));
  }

  async #head(transaction: Transaction): Promise<HeadRow> {
    const row = await transaction.get("heads", this.#generation);
    if (row === undefined) throw logRemoved(this.id);
    return row;
  }

  async #records(transaction: Transaction, seq: number, count?: number): Promise<LogRecord[]> {
    const rows = await transaction.getAll("records", recordsFrom(this.#generation, seq), count);
    return rows.map(({ seq: at, body, changesDigest, digest }) => ({ seq: at, body, changesDigest, digest }));
  }
}

const recordToRow = (generation: number, { seq, body, changesDigest, digest }: LogRecord): RecordRow => ({
  generation,
  seq,
  body,
  changesDigest,
  digest,
});
