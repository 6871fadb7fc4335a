import { randomUUID } from "node:crypto";
import {
  validHeader,
  validId,
  type EventLog,
  logExists,
  type LogInfo,
  type HeadWatch,
  type LogNotice,
  type SessionLog,
  sortedById,
  warn,
} from "@moora/event-log";
import { Database } from "./database.ts";
import { watchDatabase } from "./database-watch.ts";
import { LazyPool } from "./lazy-pool.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { PostgresSession } from "./session.ts";
import { storedToText, textToStored } from "./stored-text.ts";
import { tablesOf } from "./tables.ts";

export interface PostgresOptions {
  /** Where the tables are; made when it is not there. Default: the connection's own. */
  readonly schema?: string;
  /** What the names of the tables begin with. Default `moora_`. */
  readonly prefix?: string;
  /** How long to wait for a connection, a lock or the server's return, before `LogBusy` or `LogWrite`. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** How long the server may take for one statement before it counts as lost. Default 60,000. */
  readonly answerTimeoutMs?: number;
  /** Whether appends tell other processes at once; commits that do wait for one another. Default true; else they look each second. */
  readonly notify?: boolean;
  /** Default: a warning of the process. */
  readonly onNotice?: (notice: LogNotice) => void;
}

/**
 * A log in PostgreSQL, over a pool of `pg` or a connection string. It connects, and makes its tables, when it is first
 * used. A pool of yours stays yours: `close` ends only one that was made here.
 */
export function postgresLog(source: PostgresPool | string, options: PostgresOptions = {}): EventLog {
  const { schema, prefix = "moora_", busyTimeoutMs = 5_000, answerTimeoutMs = 60_000 } = options;
  const { notify = true, onNotice = warn } = options;
  const limits = { busyTimeoutMs, answerTimeoutMs };
  const pool = typeof source === "string" ? poolOf(source, limits) : source;
  const isOwnPool = typeof source === "string";
  const database = new Database(pool, { tables: tablesOf(schema, prefix), ...limits, notify, isOwnPool });
  return new PostgresLog(database, onNotice);
}

const poolOf = (
  connectionString: string,
  { busyTimeoutMs, answerTimeoutMs }: { readonly busyTimeoutMs: number; readonly answerTimeoutMs: number },
): PostgresPool =>
  new LazyPool({
    connectionString,
    connectionTimeoutMillis: busyTimeoutMs,
    lock_timeout: busyTimeoutMs,
    statement_timeout: answerTimeoutMs,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "moora",
  });

class PostgresLog implements EventLog {
  readonly name = "postgres";
  readonly #database: Database;
  readonly #watch: HeadWatch;
  readonly #onNotice: (notice: LogNotice) => void;

  constructor(database: Database, onNotice: (notice: LogNotice) => void) {
    this.#database = database;
    this.#watch = watchDatabase(database);
    this.#onNotice = onNotice;
  }

  async create(id: string, header: string): Promise<SessionLog> {
    const life = randomUUID();
    const [storedId, storedHeader] = [validId(id), validHeader(header)].map(textToStored);
    const { statements } = this.#database;
    // Sent again after a break, it finds its own row: that is why a life bears a name of the caller's.
    const [row] = await this.#database.run("create", async (query) => {
      await query(statements.create, life, storedId, storedHeader);
      return query(statements.open, storedId);
    });
    if (row?.["life"] !== life) throw logExists(id);
    return this.#handle(life, id, header);
  }

  async open(id: string): Promise<SessionLog | undefined> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows("open", statements.open, textToStored(validId(id)));
    return row && this.#handle(String(row["life"]), id, storedToText(String(row["header"])));
  }

  async list(): Promise<readonly LogInfo[]> {
    const rows = await this.#database.rows("list", this.#database.statements.list);
    return sortedById(
      rows.map((row) => ({
        id: storedToText(String(row["id"])),
        head: Number(row["head"] ?? 0),
        header: storedToText(String(row["header"])),
      })),
    );
  }

  async remove(id: string): Promise<boolean> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows("remove", statements.open, textToStored(validId(id)));
    if (row === undefined) return false;
    await this.#database.rows("remove", statements.remove, row["life"]);
    this.#watch.notify(String(row["life"]));
    return true;
  }

  async close(): Promise<void> {
    this.#watch.close();
    await this.#database.close();
  }

  #handle(life: string, id: string, header: string): SessionLog {
    return new PostgresSession({ life, id, header }, this.#database, this.#watch, this.#onNotice);
  }
}
