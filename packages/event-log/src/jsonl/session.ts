import { chainStart, copyRecords } from "../chain.ts";
import { checkInTurns, inspectInTurns } from "../in-turns.ts";
import { digestOf } from "../digest.ts";
import { LogError } from "../log-error.ts";
import type { Lease, LeaseClaim, LogInspection, LogRecord, SessionLog, Snapshot } from "../port.ts";
import { readStart } from "../validation.ts";
import type { JsonlFolder } from "./folder.ts";
import type { SessionFile } from "./session-file.ts";

/** A handle on one session in a folder of JSONL files. */
export class JsonlSession implements SessionLog {
  readonly id: string;
  readonly header: string;
  readonly #folder: JsonlFolder;
  readonly #file: SessionFile;
  #failure: unknown;

  constructor(folder: JsonlFolder, file: SessionFile) {
    this.id = file.generation.id;
    this.header = file.generation.header;
    this.#folder = folder;
    this.#file = file;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    if (this.#failure !== undefined) {
      const { path } = this.#file;
      throw new LogError("LogWrite", `An earlier append to ${path} failed. Open the session again.`, {
        cause: this.#failure,
      });
    }
    this.#run("append", () => {
      try {
        this.#file.append(expectedSeq, copyRecords(records));
      } catch (error) {
        if (!(error instanceof LogError) || error.code === "LogWrite") this.#failure = error;
        throw error;
      }
    });
    if (records.length > 0) this.#folder.listeners.notify(this.#file.generation.name, { by: this });
  }

  read(afterSeq?: number, limit: number = Infinity): readonly LogRecord[] {
    const start = readStart(afterSeq);
    return this.#run("read", () => {
      const { seq } = this.#file.head;
      return start < seq ? this.#file.records(start, Math.min(seq, start + limit)) : [];
    });
  }

  async inspect(): Promise<LogInspection> {
    const { damage, unfinishedBytes } = this.#run("be inspected", () => this.#file.content());
    const read = (afterSeq = 0, limit = Infinity): readonly LogRecord[] =>
      this.#run("be inspected", () => this.#file.records(afterSeq, afterSeq + limit));
    const found = await inspectInTurns({ read });
    if (found.damage !== undefined || damage === undefined) return { ...found, unfinishedBytes };
    return { ...found, damage };
  }

  async checkUpTo(seq: number): Promise<void> {
    await checkInTurns(this, chainStart(this.header), seq);
  }

  head(): number {
    return this.#run("read the head", () => this.#file.head.seq);
  }

  lease(claim: LeaseClaim): Lease {
    return this.#run("take the lease", () => this.#file.lease(claim));
  }

  currentLease(): Lease | undefined {
    return this.#run("read the lease", () => this.#file.currentLease());
  }

  release(owner: string): void {
    this.#run("release the lease", () => {
      if (!this.#file.isRemoved && this.#file.currentLease()?.owner === owner)
        this.#file.saveLease(undefined);
    });
  }

  removeAt(seq: number): boolean {
    return this.#run("remove a session", () => {
      if (this.#file.head.seq !== seq) return false;
      this.#folder.remove(this.#file.generation.name);
      return true;
    });
  }

  watch(listener: () => void): () => void {
    return this.#folder.listeners.add(this.#file.generation.name, listener, this);
  }

  snapshot(): Snapshot | undefined {
    return this.#run("read the snapshot", () => {
      this.#file.content();
      const found = this.#file.snapshot.read();
      if (found === undefined) return undefined;
      if ("damagedBytes" in found) return this.#damagedSnapshot(0, found.damagedBytes);
      const { seq, digest, version, bodyDigest } = found.value;
      if (digestOf(found.text) !== bodyDigest) return this.#damagedSnapshot(seq, found.text.length);
      return { seq, digest, version, bodyDigest, body: found.text };
    });
  }

  saveSnapshot({ seq, digest, version, body, bodyDigest }: Snapshot): void {
    this.#run("save the snapshot", () => {
      this.#file.acknowledge();
      this.#file.snapshot.save({ seq, digest, version, bodyDigest }, body);
    });
  }

  /** It stays in place, because reading writes nothing; the next snapshot replaces it. */
  #damagedSnapshot(afterSeq: number, droppedBytes: number): undefined {
    this.#folder.onNotice({ type: "damaged-snapshot", id: this.id, afterSeq, droppedBytes });
  }

  #run<T>(what: string, operation: () => T): T {
    return this.#folder.run(what, this.#file.path, operation);
  }
}
