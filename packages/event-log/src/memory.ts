import { validateAppend, validHeader, validId, logExists, logRemoved, readStart } from "./validation.ts";
import { type ChainHead, chainStart, checkedChain, copyRecords } from "./chain.ts";
import { checkInTurns, inspectInTurns } from "./in-turns.ts";
import { leaseAfter } from "./lease.ts";
import { keepStop, Listeners } from "./listeners.ts";
import { LiveTopics } from "./live-topics.ts";
import { calledIn, dueIn, listIn, type MemoryGeneration, pageIn } from "./memory-generation.ts";
import { urlToStore } from "./blobs.ts";
import type {
  BlobStore,
  DisposableLog,
  Lease,
  LeaseClaim,
  LiveChannel,
  LogInspection,
  LogRecord,
  SessionLog,
  Snapshot,
} from "./port.ts";
import { isUndamaged, snapshotSeal } from "./snapshot-seal.ts";

/** The data of a memory log: the current generation of each session, by id. Logs that share a storage share their sessions. */
export class MemoryStorage {
  readonly generations: Map<string, MemoryGeneration> = new Map();
  readonly listeners: Listeners = new Listeners();
  /** The subscribers of the live channel. */
  readonly topics: LiveTopics = new LiveTopics();
  /** The stored bytes, by URL. */
  readonly blobs: Map<string, Uint8Array> = new Map();
}

/** A log in memory, for tests, browsers and sessions that end with the process. All calls but `inspect` and `checkUpTo` are synchronous. */
export function memoryLog(storage: MemoryStorage = new MemoryStorage()): DisposableLog {
  const stops = new Set<() => void>();
  const handle = (generation: MemoryGeneration): SessionLog => new MemorySession(generation, storage, stops);
  const generationOf = (id: string): MemoryGeneration | undefined => storage.generations.get(validId(id));
  const close = (): void => {
    for (const stop of stops) stop();
    stops.clear();
  };
  return {
    name: "memory",
    create(id, header, claim) {
      if (generationOf(id) !== undefined) throw logExists(id);
      const generation: MemoryGeneration = {
        id,
        header: validHeader(header),
        records: [],
        lease: claim && leaseAfter(undefined, claim),
        due: null,
        snapshot: undefined,
        isRemoved: false,
      };
      storage.generations.set(id, generation);
      return handle(generation);
    },
    open(id) {
      const generation = generationOf(id);
      return generation === undefined ? undefined : handle(generation);
    },
    list: () => listIn(storage.generations),
    page: (query) => pageIn(storage.generations, query),
    called: (prefix) => calledIn(storage.generations, prefix),
    due: (query) => dueIn(storage.generations, query),
    blobs: blobsIn(storage),
    live: liveIn(storage, stops),
    remove(id) {
      const generation = generationOf(id);
      if (generation === undefined) return false;
      removeGeneration(storage, generation);
      return true;
    },
    close,
    async [Symbol.asyncDispose]() {
      close();
    },
  };
}

function removeGeneration({ generations, listeners }: MemoryStorage, generation: MemoryGeneration): void {
  generations.delete(generation.id);
  generation.isRemoved = true;
  generation.records = [];
  generation.lease = undefined;
  generation.snapshot = undefined;
  listeners.notify(generation.id);
}

const liveIn = ({ topics }: MemoryStorage, stops: Set<() => void>): LiveChannel => ({
  publish: (topic, text) => topics.deliver(topic, text),
  subscribe: (topic, listener) => keepStop(stops, topics.add(topic, listener)),
});

const blobsIn = ({ blobs }: MemoryStorage): BlobStore => ({
  put(bytes) {
    const url = urlToStore(bytes);
    blobs.set(url, bytes.slice());
    return url;
  },
  get: (url) => blobs.get(url)?.slice(),
  remove: (url) => void blobs.delete(url),
});

class MemorySession implements SessionLog {
  readonly #generation: MemoryGeneration;
  readonly #storage: MemoryStorage;
  readonly #stops: Set<() => void>;

  constructor(generation: MemoryGeneration, storage: MemoryStorage, stops: Set<() => void>) {
    this.#generation = generation;
    this.#storage = storage;
    this.#stops = stops;
  }

  get id(): string {
    return this.#generation.id;
  }

  get header(): string {
    return this.#generation.header;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    const generation = this.#currentGeneration();
    validateAppend(headOf(generation), expectedSeq, records);
    if (records.length === 0) return;
    for (const record of copyRecords(records)) generation.records.push(record);
    generation.due = 0;
    this.#storage.listeners.notify(this.id, { by: this });
  }

  read(afterSeq?: number, limit = Infinity): readonly LogRecord[] {
    const { header, records } = this.#currentGeneration();
    const seq = readStart(afterSeq);
    const before = seq === 0 ? chainStart(header) : records[seq - 1];
    return before === undefined
      ? []
      : checkedChain({ seq, digest: before.digest }, records.slice(seq, seq + limit));
  }

  inspect(): Promise<LogInspection> {
    return inspectInTurns(this);
  }

  async checkUpTo(seq: number): Promise<void> {
    await checkInTurns(this, chainStart(this.header), seq);
  }

  head(): number {
    return this.#currentGeneration().records.length;
  }

  lease(claim: LeaseClaim): Lease {
    const generation = this.#currentGeneration();
    generation.lease = leaseAfter(generation.lease, claim);
    return generation.lease;
  }

  currentLease(): Lease | undefined {
    return this.#currentGeneration().lease;
  }

  release(owner: string): void {
    if (this.#generation.lease?.owner === owner) this.#generation.lease = undefined;
  }

  watch(listener: () => void): () => void {
    return keepStop(this.#stops, this.#storage.listeners.add(this.id, listener, this));
  }

  snapshot(): Snapshot | undefined {
    const { snapshot } = this.#currentGeneration();
    return snapshot !== undefined && isUndamaged(snapshot, snapshotSeal(snapshot)) ? snapshot : undefined;
  }

  saveSnapshot({ seq, digest, version, body, bodyDigest }: Snapshot): void {
    this.#currentGeneration().snapshot = Object.freeze({ seq, digest, version, body, bodyDigest });
  }

  saveDue(seq: number, due: number | null): void {
    const generation = this.#currentGeneration();
    if (generation.records.length === seq) generation.due = due;
  }

  removeAt(seq: number): boolean {
    const generation = this.#currentGeneration();
    if (generation.records.length !== seq) return false;
    removeGeneration(this.#storage, generation);
    return true;
  }

  #currentGeneration(): MemoryGeneration {
    if (this.#generation.isRemoved) throw logRemoved(this.id);
    return this.#generation;
  }
}

const headOf = (generation: MemoryGeneration): ChainHead =>
  generation.records.at(-1) ?? chainStart(generation.header);
