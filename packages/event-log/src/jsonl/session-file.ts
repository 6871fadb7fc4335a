import { checkedAppend, logRemoved } from "../admission.ts";
import { type ChainHead, chainStart, logCorrupt } from "../chain.ts";
import { LogError } from "../log-error.ts";
import type { LogRecord } from "../port.ts";
import type { JsonlDirectory } from "./directory.ts";
import { findEnd, readHeader } from "./head-of-file.ts";
import { lifeMark } from "./header-line.ts";
import { type Mark, Marks } from "./marks.ts";
import { batchToLines } from "./record-line.ts";
import { type Scan, scan } from "./scan.ts";
import { isTornTail } from "./torn-tail.ts";

/** One life of a session, and where its records begin in the file. */
export interface Life {
  readonly id: string;
  readonly name: string;
  readonly life: string;
  readonly header: string;
  readonly headerLength: number;
}

/**
 * The file of one life of a session, as one handle knows it. What others have appended it learns under the lock and
 * after a sync of its own: then it is durable, and what is not whole was left by somebody who died.
 */
export class SessionFile {
  readonly life: Life;
  readonly #directory: JsonlDirectory;
  readonly #lifeMark: Buffer;
  readonly #marks: Marks;
  #end: Mark;
  #failure: unknown;

  constructor(directory: JsonlDirectory, life: Life) {
    this.life = life;
    this.#directory = directory;
    this.#lifeMark = Buffer.from(lifeMark(life.life));
    this.#end = { offset: life.headerLength, head: chainStart(life.header) };
    this.#marks = new Marks(this.#end);
  }

  /** Finds the end of the log in the open file. Needs the lock. */
  find(fd: number): void {
    const { files } = this.#directory;
    this.#directory.settleDebt(this.life.life, fd);
    files.sync(fd);
    const found = findEnd(files, fd, this.#end, files.size(fd));
    if (found === undefined) return this.#learn(fd);
    this.#marks.add(found[0]);
    this.#end = found[1];
  }

  append(expectedSeq: number, records: readonly LogRecord[]): void {
    if (this.#failure !== undefined) {
      throw new LogError("LogWrite", "an earlier append failed: open the session again to go on", {
        cause: this.#failure,
      });
    }
    this.withLock((fd) => {
      this.#learn(fd);
      const { seq, digest } = checkedAppend(this.#end.head, expectedSeq, records);
      if (records.length === 0) return;
      const bytes = Buffer.from(batchToLines(records));
      this.#write(fd, bytes);
      this.#passTo({ offset: this.#end.offset + bytes.length, head: { seq, digest } });
    });
  }

  read(afterSeq: number): readonly LogRecord[] {
    if (afterSeq >= this.head().seq) return [];
    const mark = this.#marks.upTo(afterSeq);
    const bytes = this.#withFile("r", (fd) => this.#directory.files.bytes(fd, mark.offset, this.#end.offset));
    const found = scan(bytes, mark.head, (head, length) =>
      this.#marks.add({ offset: mark.offset + length, head }),
    );
    if (found.head.seq < this.#end.head.seq) throw logCorrupt(found.bad?.seq ?? found.head.seq + 1);
    return found.records.slice(afterSeq - mark.head.seq);
  }

  head(): ChainHead {
    const { files } = this.#directory;
    const isSame = this.#withFile("r", (fd) => files.size(fd) === this.#end.offset);
    if (!isSame) this.withLock((fd) => this.#learn(fd));
    return this.#end.head;
  }

  /** Runs what needs the session, still in this life, for itself. `LogRemoved` when it is not. */
  withLock<T>(use: (fd: number) => T): T {
    return this.#directory.withLock(this.life.name, () => this.#withFile("r+", use));
  }

  #withFile<T>(flags: "r" | "r+", use: (fd: number) => T): T {
    const { files } = this.#directory;
    const result = files.withFile(this.#directory.pathOf(this.life.name), flags, (fd) => {
      if (files.bytes(fd, 0, this.#lifeMark.length).equals(this.#lifeMark)) return { value: use(fd) };
      // A tombstone, another life, or damage: which the header is read to tell.
      readHeader(files, fd);
      return undefined;
    });
    if (result === undefined) throw logRemoved(this.life.id);
    return result.value;
  }

  /** Takes in what others appended, and cuts off what is not whole. Needs the lock. */
  #learn(fd: number): void {
    const { files } = this.#directory;
    this.#directory.settleDebt(this.life.life, fd);
    const size = files.size(fd);
    const { offset, head } = this.#end;
    if (size === offset) return;
    if (size < offset) throw this.#shortened(fd, size);
    files.sync(fd);
    const bytes = files.bytes(fd, offset, size);
    const found = scan(bytes, head, (passed, length) =>
      this.#passTo({ offset: offset + length, head: passed }),
    );
    if (found.length < bytes.length) this.#cutTail(fd, bytes, offset, found);
  }

  #cutTail(fd: number, bytes: Buffer, offset: number, found: Scan): void {
    if (!isTornTail(bytes, offset, found, this.#directory.files.isDurable)) {
      throw logCorrupt(found.bad?.seq ?? found.head.seq + 1);
    }
    this.#directory.files.truncate(fd, this.#end.offset);
    this.#directory.notice({
      type: "torn-tail",
      id: this.life.id,
      afterSeq: found.head.seq,
      droppedBytes: bytes.length - found.length,
    });
  }

  /** Records that this handle had seen are gone: finds the first of them. */
  #shortened(fd: number, size: number): LogError {
    const start = this.#marks.upTo(0);
    const found = scan(this.#directory.files.bytes(fd, start.offset, size), start.head);
    return logCorrupt(found.bad?.seq ?? found.head.seq + 1);
  }

  #write(fd: number, bytes: Buffer): void {
    try {
      this.#directory.files.write(fd, bytes, this.#end.offset);
    } catch (error) {
      // What a failed write left behind must not be taken for a record, nor a later sync for proof of an earlier one.
      this.#failure = error;
      this.#directory.takeBack(this.life.life, fd, { offset: this.#end.offset, bytes });
      throw error;
    }
  }

  #passTo(end: Mark): void {
    this.#marks.add(end);
    this.#end = end;
  }
}
