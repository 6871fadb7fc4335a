import { logRemoved } from "@moora/event-log";
import type { Database } from "./database.ts";
import type { PostgresLife } from "./session.ts";

/** A checksum over the records up to one of them. */
interface Sum {
  readonly seq: number;
  readonly sum: string;
}

/**
 * The first records of a session, which one that begins with a snapshot does not read. Their checksum is saved with the
 * snapshot; the server computes and compares it, so no record is sent.
 */
export class Prefix {
  readonly #database: Database;
  readonly #life: PostgresLife;
  #saved: Sum = { seq: 0, sum: "0" };

  constructor(database: Database, life: PostgresLife) {
    this.#database = database;
    this.#life = life;
  }

  /** The checksum up to the last record. */
  async extended(): Promise<Sum> {
    const { seq, sum } = this.#saved;
    const { statements } = this.#database;
    const [row] = await this.#database.rows("saveSnapshot", statements.prefix, this.#life.life, seq, sum);
    this.#saved = { seq: Number(row?.["seq"]), sum: String(row?.["sum"]) };
    return this.#saved;
  }

  /** Whether a checksum that covers record `seq` was saved, and is still right. */
  async isSame(seq: number): Promise<boolean> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows("check", statements.isPrefixSame, this.#life.life);
    if (row === undefined) throw logRemoved(this.#life.id);
    if (row["is_same"] !== true || Number(row["seq"]) < seq) return false;
    this.#saved = { seq: Number(row["seq"]), sum: String(row["sum"]) };
    return true;
  }
}
