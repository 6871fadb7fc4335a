import {
  chainStart,
  checkedChain,
  digestOf,
  type ChainHead,
  type Lease,
  type LogInspection,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import {
  conflict,
  copyRecords,
  inspectChain,
  logCorrupt,
  logRemoved,
  readStart,
  validateAppend,
  type HeadWatch,
} from "@moora/event-log/store";
import type { LogCalls } from "./log-calls.ts";
import { longestMessageBytes } from "./message-limits.ts";

/** The last moment that a `Date` can have: the lease of Restate does not end. */
const farFuture = 8_640_000_000_000_000;

/** Which session. */
interface Generation {
  readonly id: string;
  readonly header: string;
}

/** What the handles of one log share. */
interface SharedLog {
  readonly calls: LogCalls;
  readonly watch: HeadWatch;
}

/** A session on Restate as a log. Its object folds what is appended, and runs the effects that follow. */
export class RestateSessionLog implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly maxRecordLength: number = longestMessageBytes;
  readonly #calls: LogCalls;
  readonly #watch: HeadWatch;
  /** The last head that this handle has read. */
  #known: ChainHead;

  constructor({ id, header }: Generation, { calls, watch }: SharedLog) {
    this.id = id;
    this.header = header;
    this.#calls = calls;
    this.#watch = watch;
    this.#known = chainStart(header);
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const own = copyRecords(records);
    const before = await this.#headAt(expectedSeq);
    const { seq, digest } = validateAppend(before, expectedSeq, own);
    if (own.length === 0) return;
    const result = await this.#calls.append(this.id, {
      header: digestOf(this.header),
      after: before,
      records: own,
    });
    if (result.isRemoved) throw logRemoved(this.id);
    if (result.seq !== seq) throw conflict(expectedSeq, result.seq);
    this.#known = { seq, digest };
    this.#watch.notify(this.id, { by: this, head: String(seq) });
  }

  async read(afterSeq?: number): Promise<readonly LogRecord[]> {
    const after = readStart(afterSeq);
    const last = await this.head();
    if (after >= last) return [];
    const isFromKnown = after === this.#known.seq;
    const from = isFromKnown ? after : Math.max(0, after - 1);
    const records = [...(await this.#calls.readRecords(this.id, { after: from, last }))];
    const before = isFromKnown ? this.#known : after === 0 ? chainStart(this.header) : records.shift();
    if (before?.seq !== after) throw logCorrupt(after);
    const { seq, digest } = checkedChain(before, records).at(-1) ?? before;
    if (seq < last) throw logCorrupt(seq + 1);
    this.#known = { seq, digest };
    return records;
  }

  async inspect(): Promise<LogInspection> {
    const last = await this.head();
    const records = await this.#calls.readRecords(this.id, { after: 0, last });
    const { records: undamaged, damage } = inspectChain(chainStart(this.header), records);
    const missing = records.length < last ? logCorrupt(records.length + 1) : undefined;
    return { records: undamaged, damage: damage ?? missing, unfinishedBytes: 0 };
  }

  /** Without snapshots, there is no record that is not read. */
  async checkUpTo(seq: number): Promise<void> {
    const { length } = await this.read();
    if (length < seq) throw logCorrupt(length + 1);
  }

  async head(): Promise<number> {
    return await this.#calls.readSeq(this.id);
  }

  async lease(): Promise<Lease> {
    return leaseOfRestate;
  }

  async currentLease(): Promise<Lease> {
    return leaseOfRestate;
  }

  /** Restate keeps the lease. */
  async release(): Promise<void> {}

  watch(listener: () => void): () => void {
    return this.#watch.add(this.id, listener, this);
  }

  async snapshot(): Promise<Snapshot | undefined> {
    return undefined;
  }

  /** The object has snapshots of its own. */
  async saveSnapshot(): Promise<void> {}

  /** The record at which an append continues. */
  async #headAt(seq: number): Promise<ChainHead> {
    if (seq === this.#known.seq) return this.#known;
    await this.read(seq - 1);
    return this.#known;
  }
}

const leaseOfRestate: Lease = { owner: "restate", until: farFuture };
