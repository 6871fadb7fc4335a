import { identityOf, systemClock, textToHeader } from "@moora/agent";
import { engineClaim } from "@moora/agent/internal";
import {
  LogError,
  type Lease,
  type LogInspection,
  type LogRecord,
  type MaybePromise,
  type SessionLog,
  type Snapshot,
} from "@moora/event-log";
import { conflict, copyRecords, logRemoved, SerialQueue } from "@moora/event-log/store";
import { appendWithDbos, type AppendOptions } from "./append-client.ts";
import { dbosEngine } from "./engine.ts";

/** A session on DBOS as a log: reads are those of its own log, and a workflow makes its appends. */
export class DbosSessionLog implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly maxRecordLength?: number;
  readonly removeAt?: NonNullable<SessionLog["removeAt"]>;
  readonly #log: SessionLog;
  readonly #options: AppendOptions;
  readonly #appends = new SerialQueue();

  constructor(log: SessionLog, options: AppendOptions) {
    this.id = log.id;
    this.header = log.header;
    if (log.maxRecordLength !== undefined) this.maxRecordLength = log.maxRecordLength;
    if (log.removeAt !== undefined) this.removeAt = log.removeAt.bind(log);
    this.#log = log;
    this.#options = options;
  }

  async append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    // The caller may change them later.
    const own = copyRecords(records);
    await this.#appends.run(() => this.#append(expectedSeq, own));
  }

  async #append(expectedSeq: number, records: readonly LogRecord[]): Promise<void> {
    const head = await this.#log.head();
    if (head !== expectedSeq) throw conflict(expectedSeq, head);
    if (records.length === 0) return;
    const { id, header } = this;
    const { agent, identity } = refOf(id, header);
    const work = { id, identity, expectedSeq, records };
    const result = await appendWithDbos(this.#options, { agent, log: this }, work);
    switch (result.type) {
      case "appended":
        return;
      case "conflict":
        throw conflict(expectedSeq, result.seq);
      case "removed":
        throw logRemoved(id);
      case "refused":
        throw new LogError("InvalidRecord", result.message);
    }
  }

  read(afterSeq?: number, limit?: number): MaybePromise<readonly LogRecord[]> {
    return this.#log.read(afterSeq, limit);
  }

  inspect(): MaybePromise<LogInspection> {
    return this.#log.inspect();
  }

  checkUpTo(seq: number): MaybePromise<void> {
    return this.#log.checkUpTo(seq);
  }

  head(): MaybePromise<number> {
    return this.#log.head();
  }

  /** DBOS keeps the lease, also of a session that its host has not opened yet. */
  async lease(): Promise<Lease> {
    const current = await this.#log.currentLease();
    return current === undefined || current.until <= systemClock.now() ? leaseOfDbos : current;
  }

  async currentLease(): Promise<Lease> {
    return await this.lease();
  }

  async release(): Promise<void> {}

  watch(listener: () => void): () => void {
    return this.#log.watch(listener);
  }

  snapshot(): MaybePromise<Snapshot | undefined> {
    return this.#log.snapshot();
  }

  /** No process runs a session of this log, so that none saves its state. */
  async saveSnapshot(): Promise<void> {}
}

/** The agent and the identity of a session. */
function refOf(id: string, text: string): { readonly agent: string; readonly identity: string } {
  const header = textToHeader(text);
  return { agent: header.agent.name, identity: identityOf(id, header) };
}

const { owner, now, ttlMs } = engineClaim(dbosEngine, 0);
const leaseOfDbos: Lease = { owner, until: now + ttlMs };
