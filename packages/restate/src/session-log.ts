import {
  chainStart,
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
  checkedTail,
  checkInTurns,
  copyRecords,
  inspectInTurns,
  logRemoved,
  readStart,
  SerialQueue,
  validateAppend,
} from "@moora/event-log/store";
import type { SessionCall } from "./ingress.ts";
import { longestLogRecord } from "./message-limits.ts";
import { headText } from "./read-heads.ts";
import { SessionReader } from "./session-reader.ts";

/** The last moment that a `Date` can have. */
const farFuture = 8_640_000_000_000_000;

/** The owner of the leases of all sessions on Restate. */
export const restateOwner = "restate";

/** What the handles of one log share. */
export interface SharedLog {
  /** Rejects with `LogError`, also if the log is closed. */
  readonly call: SessionCall;
  readonly watch: (id: string, listener: () => void, owner: object) => () => void;
  /** Reports the head after an append of a handle. */
  readonly appended: (id: string, by: object, head: string) => void;
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
    const after = expectedSeq === this.#known.seq ? this.#known : await this.#head();
    const { seq, digest } = validateAppend(after, expectedSeq, records);
    if (records.length === 0) return;
    const result = await this.#shared.call(this.id, "append", { header: this.#digest, after, records });
    if (result.type === "removed") throw logRemoved(this.id);
    if (result.type === "conflict") throw conflict(expectedSeq, result.seq);
    this.#known = { seq, digest };
    this.#shared.appended(this.id, this, headText({ header: this.#digest, seq }));
  }

  async read(afterSeq?: number, limit: number = Infinity): Promise<readonly LogRecord[]> {
    const after = readStart(afterSeq);
    const head = await this.#head();
    const last = Math.min(head.seq, after + limit);
    if (after > last) return [];
    const reader = new SessionReader(this.#shared.call);
    const stored = await reader.readRecords(this.id, { after: Math.max(0, after - 1), last });
    // If records are missing, the session was removed meanwhile, or is damaged.
    if ((stored.at(-1)?.seq ?? 0) < last) await this.#head();
    return checkedTail(this.header, { afterSeq: after, limit, head, stored });
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  async checkUpTo(seq: number): Promise<void> {
    await checkInTurns(this, chainStart(this.header), seq);
  }

  async head(): Promise<number> {
    return (await this.#head()).seq;
  }

  async #head(): Promise<ChainHead> {
    const head = await this.#shared.call(this.id, "head", null);
    if (head?.header !== this.#digest) throw logRemoved(this.id);
    const { seq, digest } = head;
    return (this.#known = { seq, digest });
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
