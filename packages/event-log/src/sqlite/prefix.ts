import { crc32 } from "node:zlib";
import { type ChainHead, chainStart, checkedChain, logCorrupt } from "../chain.ts";
import type { LogRecord } from "../port.ts";
import { rowToRecord } from "../rows.ts";
import type { Connection } from "./connection.ts";
import type { SqliteLife } from "./session.ts";

/** A checksum over the records up to one of them, which has this digest. */
export interface Sum extends ChainHead {
  readonly crc: number;
}

const rowsPerChunk = 5_000;

/** `bytes` is the same text as `recordToText`, of many rows at once: put together by SQLite, which is the fastest way. */
const sql = {
  saved: "SELECT prefix_seq, prefix_digest, prefix_crc FROM moora_snapshots WHERE life = ?",
  records:
    "SELECT seq, changed, digest, body FROM moora_records WHERE life = ? AND seq > ? AND seq <= ? ORDER BY seq",
  bytes: `SELECT count(*) AS count, CAST(group_concat(line, '') AS BLOB) AS bytes FROM (
    SELECT digest || changed || char(10) || body || char(10) AS line FROM moora_records
    WHERE life = ? AND seq > ? AND seq <= ? ORDER BY seq)`,
} as const;

const recordToText = ({ digest, changed, body }: LogRecord): string => `${digest}${changed}\n${body}\n`;

/**
 * The first records of a session, which one that begins with a snapshot does not read. Their checksum is saved with the
 * snapshot and compared in their place, at a fraction of the cost of the chain of digests.
 */
export class Prefix {
  readonly #connection: Connection;
  readonly #life: number;
  readonly #start: Sum;
  /** What is known to be sound. */
  #sound: Sum;

  constructor(connection: Connection, { life, header }: SqliteLife) {
    this.#connection = connection;
    this.#life = life;
    this.#start = { ...chainStart(header), crc: 0 };
    this.#sound = this.#start;
  }

  /** The checksum up to the head. What it did not cover before is read, and its chain checked. */
  extended(head: ChainHead): Sum {
    this.#sound = this.#readFrom(this.#sound, head);
    return this.#sound;
  }

  /** Throws `LogCorrupt` unless the records up to `seq` are as they were when a snapshot was saved, or sound in themselves. */
  check(seq: number, head: ChainHead): void {
    if (seq > head.seq) throw logCorrupt(head.seq + 1);
    if (seq <= this.#sound.seq) return;
    const saved = this.#saved();
    const isSame = saved !== undefined && saved.seq >= seq && this.#isSame(saved);
    this.#sound = isSame ? saved : this.#readFrom(this.#start, head);
  }

  #saved(): Sum | undefined {
    const row = this.#connection.one(sql.saved, this.#life);
    if (row === undefined) return undefined;
    const { prefix_seq: seq, prefix_digest: digest, prefix_crc: crc } = row;
    return { seq: Number(seq), digest: String(digest), crc: Number(crc) };
  }

  #isSame(saved: Sum): boolean {
    let crc = 0;
    let count = 0;
    for (let seq = 0; seq < saved.seq; seq += rowsPerChunk) {
      const last = Math.min(saved.seq, seq + rowsPerChunk);
      const row = this.#connection.one(sql.bytes, this.#life, seq, last);
      const bytes = row?.["bytes"];
      if (bytes instanceof Uint8Array) crc = crc32(bytes, crc);
      count += Number(row?.["count"]);
    }
    return count === saved.seq && crc === saved.crc;
  }

  #readFrom(start: Sum, head: ChainHead): Sum {
    let last = start;
    while (last.seq < head.seq) {
      const rows = this.#connection.all(sql.records, this.#life, last.seq, last.seq + rowsPerChunk);
      const records = checkedChain(
        last,
        rows.map((row) => rowToRecord(row)),
      );
      const { seq, digest } = records.at(-1) ?? last;
      if (records.length === 0) throw logCorrupt(last.seq + 1);
      last = { seq, digest, crc: crc32(records.map(recordToText).join(""), last.crc) };
    }
    if (last.digest !== head.digest) throw logCorrupt(head.seq);
    return last;
  }
}
