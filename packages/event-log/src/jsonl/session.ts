import { readStart } from "../admission.ts";
import { leaseAfter } from "../lease.ts";
import type { Lease, LeaseClaim, LogRecord, SessionLog, Snapshot } from "../port.ts";
import type { JsonlDirectory } from "./directory.ts";
import { leaseExtension, snapshotExtension } from "./file-name.ts";
import type { FileWatches } from "./file-watches.ts";
import type { SessionFile } from "./session-file.ts";
import { SideFile } from "./side-file.ts";

/** A handle on one session in a directory of JSONL files. */
export class JsonlSession implements SessionLog {
  readonly #directory: JsonlDirectory;
  readonly #file: SessionFile;
  readonly #watches: FileWatches;
  readonly #lease: SideFile<Lease>;
  readonly #snapshot: SideFile<Snapshot>;

  constructor(directory: JsonlDirectory, file: SessionFile, watches: FileWatches) {
    const { name, life } = file.life;
    this.#directory = directory;
    this.#file = file;
    this.#watches = watches;
    this.#lease = new SideFile(directory.files, directory.pathOf(name, leaseExtension), life, isLease);
    this.#snapshot = new SideFile(
      directory.files,
      directory.pathOf(name, snapshotExtension),
      life,
      isSnapshot,
    );
  }

  get id(): string {
    return this.#file.life.id;
  }

  get header(): string {
    return this.#file.life.header;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    this.#directory.run("append", () => this.#file.append(expectedSeq, records));
    if (records.length > 0) this.#watches.notify(this.#file.life.name);
  }

  read(afterSeq?: number): readonly LogRecord[] {
    return this.#directory.run("read", () => this.#file.read(readStart(afterSeq)));
  }

  head(): number {
    return this.#directory.run("head", () => this.#file.head().seq);
  }

  lease(claim: LeaseClaim): Lease {
    return this.#alone("lease", () => {
      const lease = leaseAfter(this.#leaseNow(), claim);
      if (lease.owner === claim.owner) this.#lease.save(lease);
      return lease;
    });
  }

  release(owner: string): void {
    this.#directory.run("release", () =>
      this.#directory.withLock(this.#file.life.name, () => {
        if (this.#leaseNow()?.owner === owner) this.#lease.remove();
      }),
    );
  }

  watch(listener: () => void): () => void {
    return this.#watches.add(this.#file.life.name, listener);
  }

  snapshot(): Snapshot | undefined {
    return this.#alone("snapshot", () => {
      const found = this.#snapshot.read();
      if (found === undefined || "value" in found) return found?.value;
      this.#directory.notice({
        type: "damaged-snapshot",
        id: this.id,
        afterSeq: 0,
        droppedBytes: found.damagedBytes,
      });
      this.#snapshot.remove();
      return undefined;
    });
  }

  saveSnapshot({ seq, digest, version, body }: Snapshot): void {
    this.#alone("saveSnapshot", () => this.#snapshot.save({ seq, digest, version, body }));
  }

  /** A lease that cannot be read is none: its owner finds out when it next renews. */
  #leaseNow(): Lease | undefined {
    const found = this.#lease.read();
    return found !== undefined && "value" in found ? found.value : undefined;
  }

  #alone<T>(what: string, use: () => T): T {
    return this.#directory.run(what, () => this.#file.withLock(use));
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const isLease = (value: unknown): value is Lease =>
  isRecord(value) && typeof value["owner"] === "string" && typeof value["until"] === "number";

const isSnapshot = (value: unknown): value is Snapshot =>
  isRecord(value) &&
  typeof value["seq"] === "number" &&
  typeof value["digest"] === "string" &&
  typeof value["version"] === "string" &&
  typeof value["body"] === "string";
