import { validateAppend, logRemoved } from "../validation.ts";
import { chainStart, logCorrupt } from "../chain.ts";
import { LogError } from "../log-error.ts";
import { andThen } from "../maybe-promise.ts";
import type { LogInspection, LogRecord, MaybePromise } from "../port.ts";
import type { JsonlDirectory } from "./directory.ts";
import { readHeader } from "./head-of-file.ts";
import { lifeMark } from "./header-line.ts";
import { type Mark, Marks } from "./marks.ts";
import { batchToLines } from "./record-line.ts";
import { scan } from "./scan.ts";
import { surveyEnd, surveyFrom, type Survey } from "./survey.ts";

/** One life of a session, and where its records begin in the file. */
export interface Life {
  readonly id: string;
  readonly name: string;
  readonly life: string;
  readonly header: string;
  readonly headerLength: number;
}

/**
 * The file of one life of a session, as one handle knows it. What others have appended it learns while nobody writes, and
 * after a sync of its own: then it is durable, and what is not whole was left by a process that died.
 */
export class SessionFile {
  readonly life: Life;
  readonly path: string;
  readonly #directory: JsonlDirectory;
  readonly #lifeMark: Buffer;
  readonly #start: Mark;
  readonly #marks: Marks;
  /** A record that was acknowledged, as far as other files of the session say. */
  readonly #acknowledgedSeq: () => number;
  /** The end of the log; undefined as long as nothing was read. */
  #end: Mark | undefined;
  #reportedTail = "";
  #mayWrite = false;
  #failure: unknown;

  constructor(directory: JsonlDirectory, life: Life, acknowledgedSeq: () => number) {
    this.life = life;
    this.path = directory.pathOf(life.name);
    this.#directory = directory;
    this.#acknowledgedSeq = acknowledgedSeq;
    this.#lifeMark = Buffer.from(lifeMark(life.life));
    this.#start = { offset: life.headerLength, head: chainStart(life.header) };
    this.#marks = new Marks(this.#start);
  }

  /** The last record that is known to be durable; undefined where that is not promised, or nothing was read yet. */
  get durableSeq(): number | undefined {
    return this.#directory.files.isDurable ? this.#end?.head.seq : undefined;
  }

  append(expectedSeq: number, records: readonly LogRecord[]): MaybePromise<void> {
    if (this.#failure !== undefined) {
      throw new LogError("LogWrite", `An earlier append to ${this.path} failed: open the session again.`, {
        cause: this.#failure,
      });
    }
    return this.withLock((fd) => {
      const { offset, head } = this.#learn(fd);
      const { seq, digest } = validateAppend(head, expectedSeq, records);
      if (records.length === 0) return;
      const bytes = Buffer.from(batchToLines(records));
      this.#write(fd, bytes, offset);
      this.#moveTo({ offset: offset + bytes.length, head: { seq, digest } });
    });
  }

  read(afterSeq: number): MaybePromise<readonly LogRecord[]> {
    return andThen(this.end(), (end) => {
      if (afterSeq >= end.head.seq) return [];
      const mark = this.#marks.upTo(afterSeq);
      const bytes = this.withFile((fd) => this.#directory.files.bytes(fd, mark.offset, end.offset));
      const found = scan(bytes, mark.head, (head, length) =>
        this.#marks.add({ offset: mark.offset + length, head }),
      );
      if (found.head.seq < end.head.seq) throw logCorrupt(found.bad?.seq ?? found.head.seq + 1);
      return found.records.slice(afterSeq - mark.head.seq);
    });
  }

  /** The end of the log, after reading what others have appended. */
  end(): MaybePromise<Mark> {
    const { files } = this.#directory;
    const known = this.#end;
    if (known !== undefined && this.withFile((fd) => files.size(fd) === known.offset)) return known;
    const acknowledged = known === undefined ? this.#acknowledgedSeq() : 0;
    return andThen(
      this.#undisturbed((fd) => this.#survey(fd)),
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
      surveyFrom(this.#directory.files, fd, this.#start, this.#directory.limitOf(this.life.life, fd));
    return andThen(this.#undisturbed(survey), ({ records, end, unfinishedBytes, damage }) => {
      const missing = end.head.seq < acknowledged ? this.#missing(end, acknowledged) : undefined;
      return {
        records,
        damage: damage ?? missing,
        unfinishedBytes: missing === undefined ? unfinishedBytes : 0,
      };
    });
  }

  /** Runs what writes to the session, still in this life, while no other process does. `LogRemoved` if it ended. */
  withLock<T>(use: (fd: number) => T): MaybePromise<T> {
    return this.#directory.withLock(this.life.name, () =>
      this.withFile((fd) => {
        this.#checkNames(fd);
        return use(fd);
      }, "r+"),
    );
  }

  /** Runs what reads the session, still in this life. `LogRemoved` if it ended. */
  withFile<T>(use: (fd: number) => T, flags: "r" | "r+" = "r"): T {
    const { files } = this.#directory;
    const result = files.withFile(this.path, flags, (fd) => {
      if (files.bytes(fd, 0, this.#lifeMark.length).equals(this.#lifeMark)) return { value: use(fd) };
      // A tombstone, another life, or damage: which the header is read to tell.
      readHeader(files, fd);
      return undefined;
    });
    if (result === undefined) throw logRemoved(this.life.id);
    return result.value;
  }

  /** Learns what others appended, and cuts off what is not whole. Needs the lock. */
  #learn(fd: number): Mark {
    const { files } = this.#directory;
    this.#directory.settleDebt(this.life.life, fd);
    const known = this.#end;
    if (known !== undefined && files.size(fd) === known.offset) return known;
    const acknowledged = known === undefined ? this.#acknowledgedSeq() : 0;
    files.sync(fd);
    const survey = this.#survey(fd);
    const end = this.#accept(survey, acknowledged);
    if (survey.unfinishedBytes > 0) files.truncate(fd, end.offset);
    return end;
  }

  #survey(fd: number): Survey {
    const { files } = this.#directory;
    const limit = this.#directory.limitOf(this.life.life, fd);
    if (this.#end === undefined) return surveyEnd(files, fd, this.#start, limit);
    if (limit >= this.#end.offset) return surveyFrom(files, fd, this.#end, limit);
    // Records that this handle had seen are gone: finds the first of them.
    const { records: _, ...left } = surveyFrom(files, fd, this.#marks.upTo(0), limit);
    return { ...left, records: [], damage: left.damage ?? logCorrupt(left.end.head.seq + 1) };
  }

  #accept({ marks, end, unfinishedBytes, damage }: Survey, acknowledgedSeq: number): Mark {
    if (damage !== undefined) throw damage;
    if (end.head.seq < acknowledgedSeq) throw this.#missing(end, acknowledgedSeq);
    for (const mark of marks) this.#marks.add(mark);
    this.#end = end;
    if (unfinishedBytes > 0) this.#reportTail(end.head.seq, unfinishedBytes);
    return end;
  }

  #missing({ head }: Mark, acknowledgedSeq: number): LogError {
    return new LogError(
      "LogCorrupt",
      `${this.path} ends after record ${head.seq}, but record ${acknowledgedSeq} was acknowledged: the file was cut. ` +
        "Restore it from a backup, or delete the files of the same name beside it to accept the loss.",
      { seq: head.seq + 1 },
    );
  }

  #reportTail(afterSeq: number, droppedBytes: number): void {
    const tail = `${afterSeq}/${droppedBytes}`;
    if (tail === this.#reportedTail) return;
    this.#reportedTail = tail;
    this.#directory.notice({ type: "torn-tail", id: this.life.id, afterSeq, droppedBytes });
  }

  /** What is read while nobody writes, and the file does not become shorter. */
  #undisturbed(survey: (fd: number) => Survey): MaybePromise<Survey> {
    return this.#directory.undisturbed(this.life.name, () =>
      this.withFile((fd) => {
        const found = survey(fd);
        return this.#directory.files.size(fd) >= found.end.offset ? { value: found } : undefined;
      }),
    );
  }

  /** Refuses to write to a file that has another name: under that name, another process may be its owner. */
  #checkNames(fd: number): void {
    if (this.#mayWrite) return;
    if (this.#directory.files.hasOtherNames(this.path, fd)) {
      throw new LogError(
        "LogWrite",
        `${this.path} can be read but not written: it is a link, or a hard link to it exists. Use the file by one name.`,
      );
    }
    this.#mayWrite = true;
  }

  #write(fd: number, bytes: Buffer, offset: number): void {
    try {
      this.#directory.files.write(fd, bytes, offset);
    } catch (error) {
      // What a failed write left behind must not be taken for a record, nor a later sync for proof of an earlier one.
      this.#failure = error;
      this.#directory.takeBack(this.life.life, fd, { offset, bytes });
      throw error;
    }
  }

  #moveTo(end: Mark): void {
    this.#marks.add(end);
    this.#end = end;
  }
}
