import { crc32 } from "node:zlib";
import { type ChainHead, chainStart, checkedChain, logCorrupt } from "../chain.ts";
import type { LogRecord } from "../port.ts";
import { rowToRecord } from "../rows.ts";
import type { Connection, Row } from "./connection.ts";
import type { SqliteLife } from "./session.ts";

/** Checksums over the records up to one of them, which has this digest: one for each column, with a line break after each. */
export interface Sum extends ChainHead {
  readonly bodies: number;
  readonly changes: number;
  readonly digests: number;
}

const rowsPerChunk = 1_000;

/** SQLite itself puts the values of many rows together: the fastest way to see all of them. */
const sql = {
  saved: "SELECT prefix_seq, prefix_digest, prefix_sum FROM moora_snapshots WHERE life = ?",
  records:
    "SELECT seq, changed, digest, body FROM moora_records WHERE life = ? AND seq > ? AND seq <= ? ORDER BY seq",
  columns: `SELECT count(*) AS count, CAST(group_concat(body, char(10)) AS BLOB) AS bodies,
    CAST(group_concat(changed, char(10)) AS BLOB) AS changes,
    CAST(group_concat(digest, char(10)) AS BLOB) AS digests
    FROM moora_records WHERE life = ? AND seq > ? AND seq <= ?`,
} as const;

/** The checksums of a sum as they are stored. */
export const sumToText = ({ bodies, changes, digests }: Omit<Sum, keyof ChainHead>): string =>
  [bodies, changes, digests].join("/");

/**
 * The first records of a session, which one that begins with a snapshot does not read. Their checksums are saved with the
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
    this.#start = { ...chainStart(header), bodies: 0, changes: 0, digests: 0 };
    this.#sound = this.#start;
  }

  /** The checksums up to the head. What they did not cover before is read, and its chain checked. */
  extended(head: ChainHead): Sum {
    this.#sound = this.#readFrom(this.#sound, head);
    return this.#sound;
  }

  /** Throws `LogCorrupt` unless the records up to `seq` are as they were when a snapshot was saved, or sound in themselves. */
  check(seq: number, head: ChainHead): void {
    if (seq > head.seq) throw logCorrupt(head.seq + 1);
    if (seq <= this.#sound.seq) return;
    this.#sound = this.#sameAsSaved(seq) ?? this.#readFrom(this.#start, head);
  }

  /** What was saved with the snapshot, if it covers record `seq` and the records still have these checksums. */
  #sameAsSaved(seq: number): Sum | undefined {
    const row = this.#connection.one(sql.saved, this.#life);
    const savedSeq = Number(row?.["prefix_seq"] ?? 0);
    if (row === undefined || savedSeq < seq) return undefined;
    let sum: Sum = { ...this.#start, seq: 0 };
    while (sum.seq < savedSeq) {
      const columns = this.#connection.one(
        sql.columns,
        this.#life,
        sum.seq,
        Math.min(savedSeq, sum.seq + rowsPerChunk),
      );
      const count = Number(columns?.["count"]);
      if (columns === undefined || count === 0) return undefined;
      sum = withColumns(sum, count, columns);
    }
    const isSame = sum.seq === savedSeq && sumToText(sum) === row["prefix_sum"];
    return isSame ? { ...sum, digest: String(row["prefix_digest"]) } : undefined;
  }

  #readFrom(start: Sum, head: ChainHead): Sum {
    let sum = start;
    while (sum.seq < head.seq) {
      const rows = this.#connection.all(sql.records, this.#life, sum.seq, sum.seq + rowsPerChunk);
      const records = checkedChain(
        sum,
        rows.map((row) => rowToRecord(row)),
      );
      if (records.length === 0) throw logCorrupt(sum.seq + 1);
      sum = withRecords(sum, records);
    }
    if (sum.digest !== head.digest) throw logCorrupt(head.seq);
    return sum;
  }
}

/** A sum continued by the columns of further rows. */
function withColumns(sum: Sum, count: number, columns: Row): Sum {
  const continued = (before: number, column: string): number => {
    const bytes = columns[column];
    return crc32("\n", bytes instanceof Uint8Array ? crc32(bytes, before) : before);
  };
  return {
    ...sum,
    seq: sum.seq + count,
    bodies: continued(sum.bodies, "bodies"),
    changes: continued(sum.changes, "changes"),
    digests: continued(sum.digests, "digests"),
  };
}

/** A sum continued by further records. */
function withRecords(sum: Sum, records: readonly LogRecord[]): Sum {
  const { seq, digest } = records.at(-1) ?? sum;
  const continued = (before: number, field: "body" | "changed" | "digest"): number =>
    crc32(records.map((record) => `${record[field]}\n`).join(""), before);
  return {
    seq,
    digest,
    bodies: continued(sum.bodies, "body"),
    changes: continued(sum.changes, "changed"),
    digests: continued(sum.digests, "digest"),
  };
}
