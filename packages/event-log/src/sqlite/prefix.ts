import { crc32 } from "node:zlib";
import { type ChainHead, chainStart, checkedChain, logCorrupt } from "../chain.ts";
import { nextTurn, readParts } from "../in-turns.ts";
import type { LogRecord, MaybePromise, SessionLog } from "../port.ts";
import type { PrefixCheck, SqlGeneration } from "./session.ts";
import type { SqlDatabase, SqlRow } from "./sql-database.ts";

/**
 * Checksums over the records up to `seq`, whose digest is `digest`: one for each column, over its values with a line break
 * after each.
 */
interface PrefixChecksum extends ChainHead {
  readonly bodies: number;
  readonly changes: number;
  readonly digests: number;
}

const rowsPerChunk = 1_000;

/** SQLite concatenates the values of many rows, which is the fastest way to read all of them. */
const sql = {
  saved: "SELECT prefix_seq, prefix_digest, prefix_sum FROM moora_snapshots WHERE generation = ?",
  columns: `SELECT count(*) AS count, CAST(group_concat(body, char(10)) AS BLOB) AS bodies,
    CAST(group_concat(changes_digest, char(10)) AS BLOB) AS changes,
    CAST(group_concat(digest, char(10)) AS BLOB) AS digests
    FROM moora_records WHERE generation = ? AND seq > ? AND seq <= ?`,
} as const;

/** The stored form of checksums. */
const checksumToText = ({ bodies, changes, digests }: Omit<PrefixChecksum, keyof ChainHead>): string =>
  [bodies, changes, digests].join("/");

/**
 * Verifies the first records of a session, which a session that starts from a snapshot does not read. Checksums over them are
 * saved with the snapshot and compared instead, at a fraction of the cost of the chain of digests.
 */
export class Prefix implements PrefixCheck {
  readonly #log: Pick<SessionLog, "read">;
  readonly #database: SqlDatabase;
  readonly #generation: number;
  readonly #start: PrefixChecksum;
  /** The part that is known to be undamaged. */
  #verified: PrefixChecksum;

  constructor(log: Pick<SessionLog, "read">, database: SqlDatabase, { generation, header }: SqlGeneration) {
    this.#log = log;
    this.#database = database;
    this.#generation = generation;
    this.#start = { ...chainStart(header), bodies: 0, changes: 0, digests: 0 };
    this.#verified = this.#start;
  }

  /** The columns of the checksums up to the head. */
  async columns(): Promise<Readonly<Record<string, string | number>>> {
    await this.#extend();
    const { seq, digest } = this.#verified;
    return { prefix_seq: seq, prefix_digest: digest, prefix_sum: checksumToText(this.#verified) };
  }

  /** Extends the checksums to the head: reads the records after them and checks their chain. */
  async #extend(): Promise<void> {
    let sum = this.#verified;
    await readParts(this.#log, { afterSeq: sum.seq }, (records) => {
      checkedChain(sum, records.slice(0, 1));
      sum = withRecords(sum, records);
    });
    this.#verified = sum;
  }

  /** Rejects with `LogCorrupt` unless the records up to `seq` match the saved checksums, or their chain is undamaged. */
  async check(seq: number): Promise<void> {
    if (seq <= this.#verified.seq) return;
    this.#verified = (await this.#matchingSaved(seq)) ?? this.#start;
    if (seq > this.#verified.seq) await this.#extend();
    if (seq > this.#verified.seq) throw logCorrupt(this.#verified.seq + 1);
  }

  /** The checksums that were saved with the snapshot, if they cover record `seq` and the records match them. */
  async #matchingSaved(seq: number): Promise<PrefixChecksum | undefined> {
    const row = await this.#one(sql.saved);
    const savedSeq = Number(row?.["prefix_seq"] ?? 0);
    if (row === undefined || savedSeq < seq) return undefined;
    let sum: PrefixChecksum = { ...this.#start, seq: 0 };
    while (sum.seq < savedSeq) {
      const columns = await this.#one(sql.columns, sum.seq, Math.min(savedSeq, sum.seq + rowsPerChunk));
      const count = Number(columns?.["count"]);
      if (columns === undefined || count === 0) return undefined;
      sum = withColumns(sum, count, columns);
      await new Promise<void>(nextTurn);
    }
    const isSame = sum.seq === savedSeq && checksumToText(sum) === row["prefix_sum"];
    return isSame ? { ...sum, digest: String(row["prefix_digest"]) } : undefined;
  }

  #one(query: string, ...values: readonly number[]): MaybePromise<SqlRow | undefined> {
    return this.#database.run("check its records", () =>
      this.#database.one(query, this.#generation, ...values),
    );
  }
}

/** Adds the columns of further rows to checksums. */
function withColumns(sum: PrefixChecksum, count: number, columns: SqlRow): PrefixChecksum {
  const extendBy = (before: number, column: string): number => {
    const bytes = columns[column];
    return crc32("\n", bytes instanceof Uint8Array ? crc32(bytes, before) : before);
  };
  return {
    ...sum,
    seq: sum.seq + count,
    bodies: extendBy(sum.bodies, "bodies"),
    changes: extendBy(sum.changes, "changes"),
    digests: extendBy(sum.digests, "digests"),
  };
}

/** Adds further records to checksums. */
function withRecords(sum: PrefixChecksum, records: readonly LogRecord[]): PrefixChecksum {
  const { seq, digest } = records.at(-1) ?? sum;
  const extendBy = (before: number, field: "body" | "changesDigest" | "digest"): number =>
    crc32(records.map((record) => `${record[field]}\n`).join(""), before);
  return {
    seq,
    digest,
    bodies: extendBy(sum.bodies, "body"),
    changes: extendBy(sum.changes, "changesDigest"),
    digests: extendBy(sum.digests, "digest"),
  };
}
