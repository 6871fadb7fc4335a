import { logRemoved } from "@moora/event-log/store";
import type { Database } from "./database.ts";
import type { PostgresGeneration } from "./append.ts";

/** A checksum over the records up to `seq`. */
interface PrefixChecksum {
  readonly seq: number;
  readonly sum: string;
}

/**
 * Verifies the first records of a session, which a session that starts from a snapshot does not read. A checksum over them is
 * saved with the snapshot. The server computes and compares it, so no record is sent.
 */
export class Prefix {
  readonly #database: Database;
  readonly #generation: PostgresGeneration;
  #checksum: PrefixChecksum = { seq: 0, sum: "0" };

  constructor(database: Database, generation: PostgresGeneration) {
    this.#database = database;
    this.#generation = generation;
  }

  /** Extends the checksum to the last record. */
  async extend(): Promise<PrefixChecksum> {
    const { seq, sum } = this.#checksum;
    const { statements } = this.#database;
    const [row] = await this.#database.rows(
      "save the snapshot",
      statements.prefix,
      this.#generation.generation,
      seq,
      sum,
    );
    this.#checksum = { seq: Number(row?.["seq"]), sum: String(row?.["sum"]) };
    return this.#checksum;
  }

  /** Whether a saved checksum covers record `seq` and matches the records. */
  async isSame(seq: number): Promise<boolean> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows(
      "check its records",
      statements.isPrefixSame,
      this.#generation.generation,
    );
    if (row === undefined) throw logRemoved(this.#generation.id);
    if (row["is_same"] !== true || Number(row["seq"]) < seq) return false;
    this.#checksum = { seq: Number(row["seq"]), sum: String(row["sum"]) };
    return true;
  }
}
