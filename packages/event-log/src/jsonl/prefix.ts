import { crc32 } from "node:zlib";
import { chainStart, logCorrupt } from "../chain.ts";
import type { Files } from "./files.ts";
import type { Offset } from "./offset-index.ts";
import type { Generation } from "./session-file.ts";
import { surveyFrom } from "./survey.ts";

/** A checksum over the records up to `seq`, whose digest is `digest` and whose end is at `offset` in the file. */
export interface PrefixChecksum {
  readonly seq: number;
  readonly digest: string;
  readonly offset: number;
  readonly crc: number;
}

const chunkBytes = 1024 * 1024;

/**
 * Verifies the first records of a file, which a session that starts from a snapshot does not read. A checksum over them is
 * saved with the snapshot and compared instead: it finds accidental damage twenty times faster than the chain of digests.
 * Finding a forgery that also updates the checksum requires reading the whole log.
 */
export class Prefix {
  readonly #files: Files;
  readonly #start: Offset;
  /** The part that is known to be undamaged. */
  #verified: PrefixChecksum;

  constructor(files: Files, { header, headerLength }: Generation) {
    this.#files = files;
    this.#start = { offset: headerLength, head: chainStart(header) };
    this.#verified = { ...this.#start.head, offset: headerLength, crc: 0 };
  }

  /** Extends the checksum to the end of the log: reads the records after it and checks their chain. */
  extend(fd: number, end: Offset): PrefixChecksum {
    const { seq, digest, offset } = this.#verified;
    return this.#read(fd, { offset, head: { seq, digest } }, end.offset, end.head.seq);
  }

  /** Throws `LogCorrupt` unless the records up to `seq` match the saved checksum, or their chain is undamaged. */
  check(fd: number, seq: number, end: Offset, saved: PrefixChecksum | undefined): void {
    if (seq > end.head.seq) throw logCorrupt(end.head.seq + 1);
    if (seq <= this.#verified.seq) return;
    if (saved !== undefined && saved.seq >= seq && this.#isSame(fd, saved)) this.#verified = saved;
    else this.#read(fd, this.#start, end.offset, seq);
  }

  #isSame(fd: number, { offset, crc }: PrefixChecksum): boolean {
    return this.#crc(fd, this.#start.offset, offset, 0) === crc;
  }

  /** Reads records from an offset on and adds them to the verified part. Throws unless `seq` is among them. */
  #read(fd: number, start: Offset, limit: number, seq: number): PrefixChecksum {
    const { end, damage } = surveyFrom(this.#files, fd, start, limit);
    if (end.head.seq < seq) throw damage ?? logCorrupt(end.head.seq + 1);
    const before = start === this.#start ? 0 : this.#verified.crc;
    const crc = this.#crc(fd, start.offset, end.offset, before);
    this.#verified = { ...end.head, offset: end.offset, crc };
    return this.#verified;
  }

  #crc(fd: number, from: number, to: number, before: number): number {
    let crc = before;
    for (let offset = from; offset < to; offset += chunkBytes)
      crc = crc32(this.#files.bytes(fd, offset, Math.min(to, offset + chunkBytes)), crc);

    return crc;
  }
}
