import { copyRecords } from "../chain.ts";
import { readStart } from "../validation.ts";
import { digestOf } from "../digest.ts";
import { readInTurns } from "../in-turns.ts";
import { leaseAfter } from "../lease.ts";
import { LogError } from "../log-error.ts";
import { andThen } from "../maybe-promise.ts";
import type {
  Lease,
  LeaseClaim,
  LogInspection,
  LogRecord,
  MaybePromise,
  SessionLog,
  Snapshot,
} from "../port.ts";
import { SerialQueue } from "../serial-queue.ts";
import type { HeadWatch } from "../head-watch.ts";
import type { JsonlDirectory } from "./directory.ts";
import { leaseExtension, snapshotExtension } from "./file-name.ts";
import { damageInFile } from "./files.ts";
import { Prefix } from "./prefix.ts";
import { type Generation, SessionFile } from "./session-file.ts";
import { SideFile } from "./side-file.ts";
import { isLeaseNote, isSnapshotNote, type LeaseNote, laterSeq, type SnapshotNote } from "./side-notes.ts";

/** A handle on one session in a directory of JSONL files. Writes run one after the other, in the order of the calls. */
export class JsonlSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #directory: JsonlDirectory;
  readonly #file: SessionFile;
  readonly #prefix: Prefix;
  readonly #watch: HeadWatch;
  readonly #lease: SideFile<LeaseNote>;
  readonly #snapshot: SideFile<SnapshotNote>;
  readonly #queue = new SerialQueue();
  #reportedSnapshot = "";

  constructor(directory: JsonlDirectory, generation: Generation, watch: HeadWatch) {
    const { name } = generation;
    this.id = generation.id;
    this.header = generation.header;
    this.#directory = directory;
    this.#watch = watch;
    this.#lease = leaseFile(directory, generation);
    this.#snapshot = new SideFile(
      directory.files,
      directory.pathOf(name, snapshotExtension),
      generation.generation,
      isSnapshotNote,
    );
    this.#file = new SessionFile(directory, generation, () =>
      Math.max(
        this.#lease.readValue()?.acknowledgedSeq ?? 0,
        this.#snapshot.readValue()?.acknowledgedSeq ?? 0,
      ),
    );
    this.#prefix = new Prefix(this, this.#file, directory.files);
  }

  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void> {
    const mine = copyRecords(records);
    return this.#queue.run(() =>
      andThen(
        this.#run("append", () => this.#file.append(expectedSeq, mine)),
        (head) => {
          if (head !== undefined) this.#watch.notify(this.#file.generation.name, { by: this, head });
        },
      ),
    );
  }

  read(afterSeq?: number, limit: number = Infinity): MaybePromise<readonly LogRecord[]> {
    return this.#run("read", () => this.#file.read(readStart(afterSeq), limit));
  }

  async inspect(): Promise<LogInspection> {
    try {
      const records = await readInTurns(this);
      return { records, damage: undefined, unfinishedBytes: this.#file.unfinishedBytes };
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "LogCorrupt") throw error;
    }
    // A damaged file is read at once: its batches may be damaged as well.
    const found = await this.#run("be inspected", () => this.#file.inspect());
    return found.damage === undefined
      ? found
      : { ...found, damage: damageInFile(this.#file.path, found.damage) };
  }

  checkUpTo(seq: number): MaybePromise<void> {
    return this.#run("check its records", () =>
      this.#prefix.check(
        seq,
        this.#file.withFile(() => this.#snapshot.readValue()?.prefix),
      ),
    );
  }

  head(): MaybePromise<number> {
    return this.#run("read the head", () => andThen(this.#file.end(), ({ head }) => head.seq));
  }

  lease(claim: LeaseClaim): MaybePromise<Lease> {
    const claimLease = (): Lease => {
      const note = this.#lease.readValue();
      const lease = leaseAfter(note?.lease, claim);
      if (lease.owner === claim.owner) this.#saveLease(lease, note);
      return lease;
    };
    return this.#queue.run(() => this.#run("take the lease", () => this.#file.withLock(claimLease)));
  }

  currentLease(): MaybePromise<Lease | undefined> {
    return this.#run("read the lease", () => this.#file.withFile(() => this.#lease.readValue()?.lease));
  }

  release(owner: string): MaybePromise<void> {
    const { name } = this.#file.generation;
    const release = (): void => {
      const note = this.#lease.readValue();
      if (note?.lease?.owner === owner) this.#saveLease(undefined, note);
    };
    return this.#queue.run(() =>
      this.#run("release the lease", () => this.#directory.withLock(name, release)),
    );
  }

  removeAt(seq: number): MaybePromise<boolean> {
    return this.#queue.run(() =>
      andThen(
        this.#run("remove a session", () => this.#file.removeAt(seq)),
        (isRemoved) => {
          if (isRemoved) this.#watch.notify(this.#file.generation.name);
          return isRemoved;
        },
      ),
    );
  }

  watch(listener: () => void): () => void {
    return this.#watch.add(this.#file.generation.name, listener, this);
  }

  snapshot(): MaybePromise<Snapshot | undefined> {
    return this.#run("read the snapshot", () =>
      this.#file.withFile(() => {
        const found = this.#snapshot.read();
        if (found === undefined) return undefined;
        if ("damagedBytes" in found) return this.#damagedSnapshot(0, found.damagedBytes);
        const { seq, digest, version, bodyDigest } = found.value;
        if (digestOf(found.text) !== bodyDigest) return this.#damagedSnapshot(seq, found.text.length);
        return { seq, digest, version, bodyDigest, body: found.text };
      }),
    );
  }

  saveSnapshot({ seq, digest, version, body, bodyDigest }: Snapshot): MaybePromise<void> {
    const save = async (): Promise<void> => {
      const prefix = await this.#prefix.extend();
      await this.#file.withLock(() => {
        const acknowledgedSeq = laterSeq(this.#file.durableSeq, this.#snapshot.readValue()?.acknowledgedSeq);
        this.#snapshot.save({ seq, digest, version, bodyDigest, prefix, acknowledgedSeq }, body);
      });
    };
    return this.#queue.run(() => this.#run("save the snapshot", save));
  }

  /** Saves the lease with the last acknowledged record, which is kept when the lease is released. */
  #saveLease(lease: Lease | undefined, note: LeaseNote | undefined): void {
    const acknowledgedSeq = laterSeq(this.#file.durableSeq, note?.acknowledgedSeq);
    if (lease === undefined && acknowledgedSeq === undefined) this.#lease.remove();
    else this.#lease.save({ lease, acknowledgedSeq });
  }

  /** Reports a damaged snapshot once. It stays in place, because reading writes nothing; the next snapshot replaces it. */
  #damagedSnapshot(afterSeq: number, droppedBytes: number): undefined {
    const damage = `${afterSeq}/${droppedBytes}`;
    if (damage !== this.#reportedSnapshot)
      this.#directory.notice({ type: "damaged-snapshot", id: this.id, afterSeq, droppedBytes });

    this.#reportedSnapshot = damage;
  }

  #run<T>(what: string, operation: () => MaybePromise<T>): MaybePromise<T> {
    return this.#directory.run(what, this.#file.path, operation);
  }
}

/** The file with the lease of a generation. */
export const leaseFile = (
  directory: JsonlDirectory,
  { name, generation }: Pick<Generation, "name" | "generation">,
): SideFile<LeaseNote> =>
  new SideFile(directory.files, directory.pathOf(name, leaseExtension), generation, isLeaseNote);
