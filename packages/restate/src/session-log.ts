import {
  chainStart,
  checkedChain,
  digestOf,
  type ChainHead,
  type Lease,
  type LogError,
  type LogInspection,
  type LogRecord,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import {
  conflict,
  checkInTurns,
  copyRecords,
  inspectInTurns,
  logCorrupt,
  logRemoved,
  readStart,
  SerialQueue,
  validateAppend,
} from "@moora/event-log/store";
import type { LogCalls } from "./log-calls.ts";
import { longestLogRecord } from "./message-limits.ts";
import { headText } from "./read-heads.ts";

/** The last moment that a `Date` can have. */
const farFuture = 8_640_000_000_000_000;

/** The owner of the leases of all sessions on Restate. */
export const restateOwner = "restate";

/** What the handles of one log share. */
export interface SharedLog {
  readonly calls: LogCalls;
  readonly watch: (id: string, listener: () => void, owner: object) => () => void;
  /** Reports the head after an append of a handle. */
  readonly appended: (id: string, by: object, head: string) => void;
  /** Throws if the log is closed. */
  readonly checkOpen: () => void;
}

/** A session on Restate as a log. Its object folds what is appended, and runs the effects that follow. */
export class RestateSessionLog implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly maxRecordLength: number = longestLogRecord;
  readonly #shared: SharedLog;
  readonly #digest: string;
  /** The last head that this handle has read or appended. */
  #known: ChainHead;
  readonly #appends = new SerialQueue();

  constructor({ id, header }: Pick<SessionLog, "id" | "header">, shared: SharedLog) {
    this.id = id;
    this.header = header;
    this.#shared = shared;
    this.#digest = digestOf(header);
    this.#known = chainStart(header);
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    // The caller may change them later.
    const own = copyRecords(records);
    await this.#appends.run(() => this.#append(expectedSeq, own));
  }

  async #append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const after = await this.#headAt(expectedSeq);
    const { seq, digest } = validateAppend(after, expectedSeq, records);
    if (records.length === 0) return;
    const result = await this.#shared.calls.append(this.id, { header: this.#digest, after, records });
    if (result.type === "removed") throw logRemoved(this.id);
    if (result.type === "conflict") throw conflict(expectedSeq, result.seq);
    this.#known = { seq, digest };
    this.#shared.appended(this.id, this, headText({ header: this.#digest, seq }));
  }

  /** The record at which an append continues: the one at `seq`, or the last one if that is another one. */
  async #headAt(seq: number): Promise<ChainHead> {
    if (seq !== this.#known.seq) await this.read(seq - 1);
    return this.#known;
  }

  async read(afterSeq?: number, limit: number = Infinity): Promise<readonly LogRecord[]> {
    const after = readStart(afterSeq);
    const last = Math.min(await this.head(), after + limit);
    if (after > last) return [];
    const start = this.#startOf(after);
    // Without the digest before them, records are read from the one before.
    const from = start === undefined ? after - 1 : after;
    const records = await this.#shared.calls.readRecords(this.id, { after: from, last });
    const before = start ?? records[0];
    if (before?.seq !== after) throw await this.#missing(after);
    const read = checkedChain(before, start === undefined ? records.slice(1) : records);
    const { seq, digest } = read.at(-1) ?? before;
    if (seq < last) throw await this.#missing(seq + 1);
    this.#known = { seq, digest };
    return read;
  }

  #startOf(seq: number): ChainHead | undefined {
    if (seq === 0) return chainStart(this.header);
    return seq === this.#known.seq ? this.#known : undefined;
  }

  /** The error for a record that could not be read: the session was removed meanwhile, or is damaged. */
  async #missing(seq: number): Promise<LogError> {
    await this.head();
    return logCorrupt(seq);
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  async checkUpTo(seq: number): Promise<void> {
    await checkInTurns(this, chainStart(this.header), seq);
  }

  async head(): Promise<number> {
    this.#shared.checkOpen();
    const head = await this.#shared.calls.readHead(this.id);
    if (head?.header !== this.#digest) throw logRemoved(this.id);
    return head.seq;
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
    return this.#shared.watch(this.id, listener, this);
  }

  /** The object has snapshots of its own. */
  async snapshot(): Promise<Snapshot | undefined> {
    return undefined;
  }

  /** As above. */
  async saveSnapshot(): Promise<void> {}
}

const leaseOfRestate: Lease = { owner: restateOwner, until: farFuture };
