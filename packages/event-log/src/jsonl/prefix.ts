import { crc32 } from "node:zlib";
import { chainStart, logCorrupt } from "../chain.ts";
import type { Files } from "./files.ts";
import type { Mark } from "./marks.ts";
import type { Life } from "./session-file.ts";
import { surveyFrom } from "./survey.ts";

/** A checksum over the records up to one of them, which has this digest and ends at `offset` in the file. */
export interface Sum {
  readonly seq: number;
  readonly digest: string;
  readonly offset: number;
  readonly crc: number;
}

const chunkBytes = 1024 * 1024;

/**
 * The first records of a file, which a session that begins with a snapshot does not read. Their checksum is saved with
 * the snapshot, and compared in their place: it finds what a disk or an editor has done to them, twenty times faster than
 * the chain of digests. What somebody has forged, checksum and all, is for a reading of the whole to find.
 */
export class Prefix {
  readonly #files: Files;
  readonly #start: Mark;
  /** What is known to be sound. */
  #sound: Sum;

  constructor(files: Files, { header, headerLength }: Life) {
    this.#files = files;
    this.#start = { offset: headerLength, head: chainStart(header) };
    this.#sound = { ...this.#start.head, offset: headerLength, crc: 0 };
  }

  /** The checksum up to the end of the log. What it did not cover before is read, and its chain checked. */
  extended(fd: number, end: Mark): Sum {
    const { seq, digest, offset } = this.#sound;
    return this.#read(fd, { offset, head: { seq, digest } }, end.offset, end.head.seq);
  }

  /** Throws `LogCorrupt` unless the records up to `seq` are as they were when `saved` was made, or sound in themselves. */
  check(fd: number, seq: number, end: Mark, saved: Sum | undefined): void {
    if (seq > end.head.seq) throw logCorrupt(end.head.seq + 1);
    if (seq <= this.#sound.seq) return;
    if (saved !== undefined && saved.seq >= seq && this.#isSame(fd, saved)) this.#sound = saved;
    else this.#read(fd, this.#start, end.offset, seq);
  }

  #isSame(fd: number, { offset, crc }: Sum): boolean {
    return this.#crc(fd, this.#start.offset, offset, 0) === crc;
  }

  /** Reads records from a mark on, and adds them to what is known to be sound. Throws unless `seq` is among them. */
  #read(fd: number, start: Mark, limit: number, seq: number): Sum {
    const { end, damage } = surveyFrom(this.#files, fd, start, limit);
    if (end.head.seq < seq) throw damage ?? logCorrupt(end.head.seq + 1);
    const before = start === this.#start ? 0 : this.#sound.crc;
    const crc = this.#crc(fd, start.offset, end.offset, before);
    this.#sound = { ...end.head, offset: end.offset, crc };
    return this.#sound;
  }

  #crc(fd: number, from: number, to: number, before: number): number {
    let crc = before;
    for (let offset = from; offset < to; offset += chunkBytes) {
      crc = crc32(this.#files.bytes(fd, offset, Math.min(to, offset + chunkBytes)), crc);
    }
    return crc;
  }
}
