import { validateAppend, logRemoved } from "../validation.ts";
import { type ChainHead, chainStart, logCorrupt } from "../chain.ts";
import { LogError } from "../log-error.ts";
import { andThen } from "../maybe-promise.ts";
import type { LogInspection, LogRecord, MaybePromise } from "../port.ts";
import type { JsonlDirectory } from "./directory.ts";
import { fileStamp } from "./directory-watch.ts";
import { readHeader } from "./header-and-end.ts";
import { headerStart } from "./header-line.ts";
import type { FileStat } from "./file-system.ts";
import type { OpenFile } from "./open-files.ts";
import { type Offset, OffsetIndex } from "./offset-index.ts";
import { batchToLines } from "./record-line.ts";
import { scan, type Scan } from "./scan.ts";
import { surveyEnd, surveyFrom, type Survey } from "./survey.ts";

/** How much of a file a read of a part of the log reads at first. */
const firstReadBytes = 1024 * 1024;

/** One generation of a session, and the length of its header line, after which the records begin. */
export interface Generation {
  readonly id: string;
  readonly name: string;
  readonly generation: string;
  readonly header: string;
  readonly headerLength: number;
}

/**
 * The file of one generation of a session, as one handle knows it. The handle reads the appends of other processes while no
 * process writes, and after its own sync: then they are durable, and an incomplete batch is the remains of a crashed process.
 */
export class SessionFile {
  readonly generation: Generation;
  readonly path: string;
  readonly #directory: JsonlDirectory;
  readonly #headerStart: Buffer;
  readonly #start: Offset;
  readonly #offsets: OffsetIndex;
  /** The last acknowledged record according to the other files of the session; 0 if they name none. */
  readonly #acknowledgedSeq: () => number;
  /** The length in bytes of an unfinished append after the end. */
  unfinishedBytes: number = 0;
  /** The end of the log; undefined before the first read. */
  #end: Offset | undefined;
  #reportedTail = "";
  #failure: unknown;

  constructor(directory: JsonlDirectory, generation: Generation, acknowledgedSeq: () => number) {
    this.generation = generation;
    this.path = directory.pathOf(generation.name);
    this.#directory = directory;
    this.#acknowledgedSeq = acknowledgedSeq;
    this.#headerStart = Buffer.from(headerStart(generation.generation));
    this.#start = { offset: generation.headerLength, head: chainStart(generation.header) };
    this.#offsets = new OffsetIndex(this.#start);
  }

  /** The last record that is known to be durable; undefined in a relaxed log and before the first read. */
  get durableSeq(): number | undefined {
    return this.#directory.files.isDurable ? this.#end?.head.seq : undefined;
  }

  /** Returns the stamp of the file after the append; undefined if there was nothing to append. */
  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<string | undefined> {
    if (this.#failure !== undefined) {
      throw new LogError("LogWrite", `An earlier append to ${this.path} failed. Open the session again.`, {
        cause: this.#failure,
      });
    }
    return this.withLock((file) => {
      const { fd, ino } = file;
      const { offset, head } = this.#catchUp(file);
      const { seq, digest } = validateAppend(head, expectedSeq, records);
      if (records.length === 0) return undefined;
      const bytes = Buffer.from(batchToLines(records));
      this.#write(fd, bytes, offset);
      const end = offset + bytes.length;
      this.#advanceTo({ offset: end, head: { seq, digest } });
      return fileStamp({ ino, size: end });
    });
  }

  read(afterSeq: number, limit: number): MaybePromise<readonly LogRecord[]> {
    return andThen(this.end(), (end) => {
      const last = Math.min(end.head.seq, afterSeq + limit);
      if (afterSeq >= last) return [];
      const start = this.#offsets.upTo(afterSeq);
      const { seq } = start.head;
      for (let length = limit === Infinity ? Infinity : firstReadBytes; ; length *= 4) {
        const until = Math.min(end.offset, start.offset + length);
        const found = this.#scan(start, until, last - seq);
        if (found.head.seq >= last) return found.records.slice(afterSeq - seq, last - seq);
        if (found.badLine !== undefined || until === end.offset)
          throw logCorrupt(found.badLine?.seq ?? found.head.seq + 1);
      }
    });
  }

  #scan(start: Offset, until: number, most: number): Scan {
    const bytes = this.withFile((fd) => this.#directory.files.bytes(fd, start.offset, until));
    const add = (head: ChainHead, length: number): void =>
      this.#offsets.add({ offset: start.offset + length, head });
    return scan(bytes, start.head, add, most);
  }

  /** The end of the log, after reading the appends of other processes. */
  end(): MaybePromise<Offset> {
    const { files } = this.#directory;
    const known = this.#end;
    if (known !== undefined && this.withFile((fd) => files.size(fd) === known.offset)) return known;
    const acknowledged = known === undefined ? this.#acknowledgedSeq() : 0;
    return andThen(
      this.#readConsistently((fd) => this.#survey(fd)),
      (survey) => {
        if (known === undefined || survey.end.offset > known.offset) files.syncFile(this.path);
        return this.#accept(survey, acknowledged);
      },
    );
  }

  /** Reads the whole file. */
  inspect(): MaybePromise<LogInspection> {
    const acknowledged = this.#acknowledgedSeq();
    const survey = (fd: number): Survey =>
      surveyFrom(
        this.#directory.files,
        fd,
        this.#start,
        this.#directory.usableLength(this.generation.generation, fd),
      );
    return andThen(this.#readConsistently(survey), ({ records, end, unfinishedBytes, damage }) => {
      const missing = end.head.seq < acknowledged ? this.#truncatedFile(end, acknowledged) : undefined;
      return {
        records,
        damage: damage ?? missing,
        unfinishedBytes: missing === undefined ? unfinishedBytes : 0,
      };
    });
  }

  /** Runs an operation that writes to the session, while no other process does. Throws `LogRemoved` if this generation ended. */
  withLock<T>(use: (file: OpenFile) => T): MaybePromise<T> {
    return this.#directory.withLock(this.generation.name, () => this.#useLocked(use));
  }

  /** Removes the session if its last record is `seq`; returns whether it did. */
  removeAt(seq: number): MaybePromise<boolean> {
    return this.#directory.withLock(this.generation.name, () => {
      if (this.#useLocked((file) => this.#catchUp(file).head.seq) !== seq) return false;
      this.#directory.removeSession(this.generation);
      return true;
    });
  }

  /** Needs the lock. */
  #useLocked<T>(use: (file: OpenFile) => T): T {
    const check = (stat: FileStat): void => this.#checkNames(stat);
    const result = this.#directory.openFiles.use(this.path, check, (file) =>
      this.#isCurrent(file.fd) ? { value: use(file) } : undefined,
    );
    if (result !== undefined) return result.value;
    this.#directory.openFiles.close(this.path);
    throw logRemoved(this.generation.id);
  }

  /** Runs an operation that reads the session. Throws `LogRemoved` if this generation ended. */
  withFile<T>(use: (fd: number) => T): T {
    const result = this.#directory.files.withFile(this.path, "r", (fd) =>
      this.#isCurrent(fd) ? { value: use(fd) } : undefined,
    );
    if (result === undefined) throw logRemoved(this.generation.id);
    return result.value;
  }

  /** Whether a file is of this generation. If not, it is a tombstone or another generation, or damaged, which throws. */
  #isCurrent(fd: number): boolean {
    const { files } = this.#directory;
    if (files.bytes(fd, 0, this.#headerStart.length).equals(this.#headerStart)) return true;
    readHeader(files, fd);
    return false;
  }

  /** Reads the appends of other processes, and truncates an incomplete batch. Needs the lock. */
  #catchUp({ fd, size }: OpenFile): Offset {
    const { files } = this.#directory;
    const isTruncated = this.#directory.applyTruncation(this.generation.generation, fd);
    const known = this.#end;
    if (known !== undefined && (isTruncated ? files.size(fd) : size) === known.offset) return known;
    const acknowledged = known === undefined ? this.#acknowledgedSeq() : 0;
    files.sync(fd);
    const survey = this.#survey(fd);
    const end = this.#accept(survey, acknowledged);
    if (survey.unfinishedBytes > 0) files.truncate(fd, end.offset);
    this.unfinishedBytes = 0;
    return end;
  }

  #survey(fd: number): Survey {
    const { files } = this.#directory;
    const limit = this.#directory.usableLength(this.generation.generation, fd);
    if (this.#end === undefined) return surveyEnd(files, fd, this.#start, limit);
    if (limit >= this.#end.offset) return surveyFrom(files, fd, this.#end, limit);
    // Records that this handle has read are missing. Find the first of them.
    const { records: _, ...left } = surveyFrom(files, fd, this.#offsets.upTo(0), limit);
    return { ...left, records: [], damage: left.damage ?? logCorrupt(left.end.head.seq + 1) };
  }

  #accept({ offsets, end, unfinishedBytes, damage }: Survey, acknowledgedSeq: number): Offset {
    if (damage !== undefined) throw damage;
    if (end.head.seq < acknowledgedSeq) throw this.#truncatedFile(end, acknowledgedSeq);
    for (const offset of offsets) this.#offsets.add(offset);
    this.#end = end;
    this.unfinishedBytes = unfinishedBytes;
    if (unfinishedBytes > 0) this.#reportTail(end.head.seq, unfinishedBytes);
    return end;
  }

  #truncatedFile({ head }: Offset, acknowledgedSeq: number): LogError {
    return new LogError(
      "LogCorrupt",
      `${this.path} ends after record ${head.seq}, but record ${acknowledgedSeq} was acknowledged: the file was truncated. ` +
        "Restore it from a backup, or delete the .lease and .snapshot files of the same name to accept the loss.",
      { seq: head.seq + 1 },
    );
  }

  #reportTail(afterSeq: number, droppedBytes: number): void {
    const tail = `${afterSeq}/${droppedBytes}`;
    if (tail === this.#reportedTail) return;
    this.#reportedTail = tail;
    this.#directory.notice({ type: "torn-tail", id: this.generation.id, afterSeq, droppedBytes });
  }

  /** Reads while no process writes, and repeats if the file became shorter. */
  #readConsistently(survey: (fd: number) => Survey): MaybePromise<Survey> {
    return this.#directory.readConsistently(this.generation.name, () =>
      this.withFile((fd) => {
        const found = survey(fd);
        return this.#directory.files.size(fd) >= found.end.offset ? { value: found } : undefined;
      }),
    );
  }

  /** Refuses to write to a file that has another name: another process could write to it under that name. */
  #checkNames(stat: FileStat): void {
    if (stat.nlink <= 1n && !stat.isSymbolicLink()) return;
    throw new LogError(
      "LogWrite",
      `${this.path} can be read but not written: it is a symbolic link or has several hard links. Keep one name for the file.`,
    );
  }

  #write(fd: number, bytes: Buffer, offset: number): void {
    try {
      this.#directory.files.write(fd, bytes, offset);
    } catch (error) {
      // The bytes of a failed write must not be read as a record, and a later sync does not prove that earlier data is durable.
      this.#failure = error;
      this.#directory.truncateFailedAppend(this.generation.generation, fd, { offset, bytes });
      this.#directory.openFiles.close(this.path);
      throw error;
    }
  }

  #advanceTo(end: Offset): void {
    this.#offsets.add(end);
    this.#end = end;
  }
}
