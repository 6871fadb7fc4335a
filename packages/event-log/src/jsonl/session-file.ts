import { type ChainHead, logCorrupt } from "../chain.ts";
import { leaseAfter } from "../lease.ts";
import { LogError } from "../log-error.ts";
import type { Lease, LeaseClaim, LogRecord } from "../port.ts";
import { logRemoved, validateAppend } from "../validation.ts";
import { damageInFile } from "./files.ts";
import type { JsonlFolder } from "./folder.ts";
import type { HeaderLine } from "./header-line.ts";
import { batchToLines } from "./record-line.ts";
import { addEnds, type Content, contentOf, headerLine, lineIn, linesAfter } from "./record-lines.ts";
import { type LeaseNote, SideFile, type SnapshotNote } from "./side-file.ts";

/** One generation of a session, and the length of its header line, after which the records begin. */
export interface Generation extends HeaderLine {
  readonly name: string;
  readonly header: string;
  readonly headerLength: number;
}

/** The file of one generation of a session, and those beside it. The handles of a session share it. */
export class SessionFile {
  readonly generation: Generation;
  readonly path: string;
  readonly snapshot: SideFile<SnapshotNote>;
  readonly #lease: SideFile<LeaseNote>;
  readonly #folder: JsonlFolder;
  /** Undefined before the first use. */
  #content: Content | undefined;
  #isTailReported = false;
  /** Whether a failed append may have left bytes after the end. */
  #hasRemains = false;
  isRemoved = false;

  constructor(folder: JsonlFolder, generation: Generation) {
    const { name, generation: key } = generation;
    this.#folder = folder;
    this.generation = generation;
    this.path = folder.pathOf(name);
    this.#lease = new SideFile(folder.files, folder.pathOf(name, "lease"), key);
    this.snapshot = new SideFile(folder.files, folder.pathOf(name, "snapshot"), key);
  }

  /** The head of the log. Throws `LogCorrupt` for a file whose end is damaged, and reports an unfinished append once. */
  get head(): ChainHead {
    return this.#sound().head;
  }

  /** The records after one number up to another. Throws `LogCorrupt` for the first bad one. */
  records(afterSeq: number, upTo: number): readonly LogRecord[] {
    const { ends, head } = this.content();
    const last = Math.min(head.seq, upTo);
    if (afterSeq >= last) return [];
    const from = ends[afterSeq - 1] ?? 0;
    const start = ends[afterSeq] ?? 0;
    const read = (fd: number): Buffer => this.#folder.files.bytes(fd, from, ends[last] ?? 0);
    const bytes = this.#folder.files.withFile(this.path, "r", read);
    if (bytes === undefined) throw logRemoved(this.generation.id);
    const before = afterSeq === 0 ? headerLine(this.generation.header) : lineIn(bytes, 0, start - from - 1);
    if (before === undefined) throw logCorrupt(afterSeq);
    const { lines, badLine } = linesAfter(before, bytes.subarray(start - from));
    if (lines.length < last - afterSeq) throw logCorrupt(badLine?.seq ?? afterSeq + lines.length + 1);
    return lines.map(({ record }) => record);
  }

  /** What the file contains, which is read once: no other process changes it. */
  content(): Content {
    if (this.isRemoved) throw logRemoved(this.generation.id);
    if (this.#content !== undefined) return this.#content;
    const { files } = this.#folder;
    const { header, headerLength } = this.generation;
    files.syncFile(this.path);
    const bytes = files.read(this.path);
    if (bytes === undefined) throw logRemoved(this.generation.id);
    const content = contentOf(bytes, header, headerLength, files.isDurable);
    if (content.damage !== undefined) content.damage = damageInFile(this.path, content.damage);
    const acknowledgedSeq = this.#note()?.acknowledgedSeq ?? 0;
    if (content.head.seq < acknowledgedSeq) {
      content.damage ??= this.#truncatedFile(content.head, acknowledgedSeq);
      content.unfinishedBytes = 0;
    }
    this.#content = content;
    return content;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    const content = this.#sound();
    const { seq, digest } = validateAppend(content.head, expectedSeq, records);
    const end = content.ends.at(-1) ?? 0;
    const bytes = Buffer.from(batchToLines(records));
    this.#folder.write(this, (fd) => {
      if (content.unfinishedBytes > 0 || this.#hasRemains) this.#truncate(fd, content);
      if (records.length > 0) this.#write(fd, bytes, content);
    });
    if (records.length === 0) return;
    addEnds(content.ends, bytes, end);
    content.head = { seq, digest };
  }

  lease(claim: LeaseClaim): Lease {
    this.content();
    const lease = leaseAfter(this.#note()?.lease, claim);
    if (lease.owner === claim.owner) this.saveLease(lease);
    return lease;
  }

  currentLease(): Lease | undefined {
    if (this.isRemoved) throw logRemoved(this.generation.id);
    return this.#note()?.lease;
  }

  /** Saves the lease, and in a log that is not relaxed with it the last acknowledged record. */
  saveLease(lease: Lease | undefined): void {
    const acknowledgedSeq = this.#folder.files.isDurable ? this.#sound().head.seq : undefined;
    this.#lease.save({ lease, acknowledgedSeq });
  }

  /** Saves the lease of a session before its file exists. */
  saveFirstLease(lease: Lease): void {
    this.#lease.save({ lease }, "", true);
  }

  /** Saves the last acknowledged record with the lease. */
  acknowledge(): void {
    if (this.#folder.files.isDurable) this.saveLease(this.currentLease());
  }

  #note(): LeaseNote | undefined {
    const found = this.#lease.read();
    return found !== undefined && "value" in found ? found.value : undefined;
  }

  #sound(): Content {
    const content = this.content();
    const { damage, head, unfinishedBytes } = content;
    if (damage !== undefined) throw damage;
    if (unfinishedBytes > 0 && !this.#isTailReported) {
      this.#isTailReported = true;
      const { id } = this.generation;
      this.#folder.onNotice({ type: "torn-tail", id, afterSeq: head.seq, droppedBytes: unfinishedBytes });
    }
    return content;
  }

  #truncatedFile({ seq }: ChainHead, acknowledgedSeq: number): LogError {
    return new LogError(
      "LogCorrupt",
      `${this.path} ends after record ${seq}, but record ${acknowledgedSeq} was acknowledged: the file was truncated. ` +
        "Restore it from a backup, or delete the .lease file of the same name to accept the loss.",
      { seq: seq + 1 },
    );
  }

  #write(fd: number, bytes: Buffer, content: Content): void {
    try {
      this.#folder.files.write(fd, bytes, content.ends.at(-1) ?? 0);
    } catch (error) {
      // The bytes of a failed write must not be read as a record, and a later sync does not prove that earlier data is durable.
      this.#hasRemains = true;
      this.#folder.keep(this);
      try {
        this.#truncate(fd, content);
      } catch {
        // The next append truncates the file. The error of this one is the one that is thrown.
      }
      throw error;
    }
  }

  #truncate(fd: number, content: Content): void {
    this.#folder.files.truncate(fd, content.ends.at(-1) ?? 0);
    content.unfinishedBytes = 0;
    this.#hasRemains = false;
  }
}
