import { validateAppend, validHeader, validId, logExists, logRemoved, readStart } from "./validation.ts";
import { type ChainHead, chainStart, checkedChain, logCorrupt, soundPart } from "./chain.ts";
import { leaseAfter } from "./lease.ts";
import { Listeners } from "./listeners.ts";
import type {
  EventLog,
  Lease,
  LeaseClaim,
  LogInfo,
  LogInspection,
  LogRecord,
  SessionLog,
  Snapshot,
} from "./port.ts";
import { sortedById } from "./rows.ts";
import { isUndamaged, snapshotSeal } from "./sealed-snapshot.ts";

/** What a memory log keeps of one life of a session. */
export interface MemoryGeneration {
  readonly id: string;
  readonly header: string;
  records: LogRecord[];
  lease: Lease | undefined;
  snapshot: Snapshot | undefined;
  isRemoved: boolean;
}

/** What a memory log keeps: the living sessions by id. Two logs over one storage see each other's records. */
export class MemoryStorage {
  readonly lives: Map<string, MemoryGeneration> = new Map();
  readonly listeners: Listeners = new Listeners();
}

/** A log in memory: synchronous, for tests, browsers and sessions that need not outlive the process. */
export function memoryLog(storage: MemoryStorage = new MemoryStorage()): EventLog {
  const stops = new Set<() => void>();
  const handle = (life: MemoryGeneration): SessionLog => new MemorySession(life, storage.listeners, stops);
  const living = (id: string): MemoryGeneration | undefined => storage.lives.get(validId(id));
  return {
    name: "memory",
    create(id, header) {
      if (living(id) !== undefined) throw logExists(id);
      const life: MemoryGeneration = {
        id,
        header: validHeader(header),
        records: [],
        lease: undefined,
        snapshot: undefined,
        isRemoved: false,
      };
      storage.lives.set(id, life);
      return handle(life);
    },
    open(id) {
      const life = living(id);
      return life === undefined ? undefined : handle(life);
    },
    list() {
      const infos = [...storage.lives.values()].map(({ id, header, records }): LogInfo => ({
        id,
        head: records.length,
        header,
      }));
      return sortedById(infos);
    },
    remove(id) {
      const life = living(id);
      if (life === undefined) return false;
      storage.lives.delete(id);
      life.isRemoved = true;
      life.records = [];
      life.lease = undefined;
      life.snapshot = undefined;
      storage.listeners.notify(id);
      return true;
    },
    close() {
      for (const stop of stops) stop();
      stops.clear();
    },
  };
}

class MemorySession implements SessionLog {
  readonly #life: MemoryGeneration;
  readonly #listeners: Listeners;
  readonly #stops: Set<() => void>;

  constructor(life: MemoryGeneration, listeners: Listeners, stops: Set<() => void>) {
    this.#life = life;
    this.#listeners = listeners;
    this.#stops = stops;
  }

  get id(): string {
    return this.#life.id;
  }

  get header(): string {
    return this.#life.header;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    const life = this.#living();
    validateAppend(headOf(life), expectedSeq, records);
    if (records.length === 0) return;
    for (const { seq, body, changed, digest } of records) {
      life.records.push(Object.freeze({ seq, body, changed, digest }));
    }
    this.#listeners.notify(this.id);
  }

  read(afterSeq?: number): readonly LogRecord[] {
    const { header, records } = this.#living();
    const seq = readStart(afterSeq);
    const before = seq === 0 ? chainStart(header) : records[seq - 1];
    return before === undefined ? [] : checkedChain({ seq, digest: before.digest }, records.slice(seq));
  }

  inspect(): LogInspection {
    const { header, records } = this.#living();
    return { ...soundPart(chainStart(header), [...records]), unfinishedBytes: 0 };
  }

  checkUpTo(seq: number): void {
    const { header, records } = this.#living();
    checkedChain(chainStart(header), records.slice(0, seq));
    if (seq > records.length) throw logCorrupt(records.length + 1);
  }

  head(): number {
    return this.#living().records.length;
  }

  lease(claim: LeaseClaim): Lease {
    const life = this.#living();
    life.lease = leaseAfter(life.lease, claim);
    return life.lease;
  }

  currentLease(): Lease | undefined {
    return this.#living().lease;
  }

  release(owner: string): void {
    if (this.#life.lease?.owner === owner) this.#life.lease = undefined;
  }

  watch(listener: () => void): () => void {
    const stopListening = this.#listeners.add(this.id, listener);
    const stop = (): void => {
      this.#stops.delete(stop);
      stopListening();
    };
    this.#stops.add(stop);
    return stop;
  }

  snapshot(): Snapshot | undefined {
    const { snapshot } = this.#living();
    return snapshot !== undefined && isUndamaged(snapshot, snapshotSeal(snapshot)) ? snapshot : undefined;
  }

  saveSnapshot({ seq, digest, version, body, bodyDigest }: Snapshot): void {
    this.#living().snapshot = Object.freeze({ seq, digest, version, body, bodyDigest });
  }

  #living(): MemoryGeneration {
    if (this.#life.isRemoved) throw logRemoved(this.id);
    return this.#life;
  }
}

const headOf = (life: MemoryGeneration): ChainHead => life.records.at(-1) ?? chainStart(life.header);
