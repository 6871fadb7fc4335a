import { readStart } from "../validation.ts";
import { digestOf } from "../digest.ts";
import { leaseAfter } from "../lease.ts";
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
import { Turns } from "../turns.ts";
import type { HeadWatch } from "../head-watch.ts";
import type { JsonlDirectory } from "./directory.ts";
import type { Mark } from "./marks.ts";
import { leaseExtension, snapshotExtension } from "./file-name.ts";
import { Prefix } from "./prefix.ts";
import { type Life, SessionFile } from "./session-file.ts";
import { SideFile } from "./side-file.ts";
import { isLeaseNote, isSnapshotNote, type LeaseNote, laterSeq, type SnapshotNote } from "./side-notes.ts";

/** A handle on one session in a directory of JSONL files. Writes take turns, in the order of the calls. */
export class JsonlSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #directory: JsonlDirectory;
  readonly #file: SessionFile;
  readonly #prefix: Prefix;
  readonly #watch: HeadWatch;
  readonly #lease: SideFile<LeaseNote>;
  readonly #snapshot: SideFile<SnapshotNote>;
  readonly #turns = new Turns();
  #reportedSnapshot = "";

  constructor(directory: JsonlDirectory, life: Life, watch: HeadWatch) {
    const { name } = life;
    this.id = life.id;
    this.header = life.header;
    this.#directory = directory;
    this.#watch = watch;
    this.#lease = new SideFile(
      directory.files,
      directory.pathOf(name, leaseExtension),
      life.life,
      isLeaseNote,
    );
    this.#snapshot = new SideFile(
      directory.files,
      directory.pathOf(name, snapshotExtension),
      life.life,
      isSnapshotNote,
    );
    this.#file = new SessionFile(directory, life, () =>
      Math.max(this.#lease.readValue()?.endSeq ?? 0, this.#snapshot.readValue()?.endSeq ?? 0),
    );
    this.#prefix = new Prefix(directory.files, life);
  }

  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void> {
    const mine = records.map((record) => ({ ...record }));
    return this.#turns.run(() =>
      andThen(
        this.#run("append", () => this.#file.append(expectedSeq, mine)),
        () => {
          if (records.length > 0) this.#watch.notify(this.#file.life.name);
        },
      ),
    );
  }

  read(afterSeq?: number): MaybePromise<readonly LogRecord[]> {
    return this.#run("read", () => this.#file.read(readStart(afterSeq)));
  }

  inspect(): MaybePromise<LogInspection> {
    return this.#run("be inspected", () => this.#file.inspect());
  }

  checkUpTo(seq: number): MaybePromise<void> {
    return this.#run("check its records", () =>
      andThen(this.#file.end(), (end) =>
        this.#file.withFile((fd) => this.#prefix.check(fd, seq, end, this.#snapshot.readValue()?.prefix)),
      ),
    );
  }

  head(): MaybePromise<number> {
    return this.#run("read the head", () => andThen(this.#file.end(), ({ head }) => head.seq));
  }

  lease(claim: LeaseClaim): MaybePromise<Lease> {
    const take = (): Lease => {
      const note = this.#lease.readValue();
      const lease = leaseAfter(note?.lease, claim);
      if (lease.owner === claim.owner) this.#saveLease(lease, note);
      return lease;
    };
    return this.#turns.run(() => this.#run("take the lease", () => this.#file.withLock(take)));
  }

  currentLease(): MaybePromise<Lease | undefined> {
    return this.#run("read the lease", () => this.#file.withFile(() => this.#lease.readValue()?.lease));
  }

  release(owner: string): MaybePromise<void> {
    const { name } = this.#file.life;
    const release = (): void => {
      const note = this.#lease.readValue();
      if (note?.lease?.owner === owner) this.#saveLease(undefined, note);
    };
    return this.#turns.run(() =>
      this.#run("release the lease", () => this.#directory.withLock(name, release)),
    );
  }

  watch(listener: () => void): () => void {
    return this.#watch.add(this.#file.life.name, listener);
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
    const save = (fd: number, end: Mark): void => {
      const prefix = this.#prefix.extended(fd, end);
      const endSeq = laterSeq(this.#file.durableSeq, this.#snapshot.readValue()?.endSeq);
      this.#snapshot.save({ seq, digest, version, bodyDigest, prefix, endSeq }, body);
    };
    return this.#turns.run(() =>
      this.#run("save the snapshot", () =>
        andThen(this.#file.end(), (end) => this.#file.withLock((fd) => save(fd, end))),
      ),
    );
  }

  /** Keeps what is known of the end of the log, also when the lease is released. */
  #saveLease(lease: Lease | undefined, note: LeaseNote | undefined): void {
    const endSeq = laterSeq(this.#file.durableSeq, note?.endSeq);
    if (lease === undefined && endSeq === undefined) this.#lease.remove();
    else this.#lease.save({ lease, endSeq });
  }

  /** Left where it is: reading writes nothing, and the next snapshot takes its place. */
  #damagedSnapshot(afterSeq: number, droppedBytes: number): undefined {
    const what = `${afterSeq}/${droppedBytes}`;
    if (what !== this.#reportedSnapshot) {
      this.#directory.notice({ type: "damaged-snapshot", id: this.id, afterSeq, droppedBytes });
    }
    this.#reportedSnapshot = what;
  }

  #run<T>(what: string, operation: () => MaybePromise<T>): MaybePromise<T> {
    return this.#directory.run(what, this.#file.path, operation);
  }
}
