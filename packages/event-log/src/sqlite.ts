import { checkedHeader, checkedId, logExists } from "./admission.ts";
import { chainStart } from "./chain.ts";
import type { EventLog, LogInfo, LogNotice, SessionLog } from "./port.ts";
import { Connection, type OpenDatabase } from "./sqlite/connection.ts";
import { DatabaseWatch } from "./sqlite/database-watch.ts";
import { openSqlite } from "./sqlite/open-sqlite.ts";
import { SqliteSession } from "./sqlite/session.ts";
import { warn } from "./warn.ts";

export type { OpenDatabase };

export interface SqliteOptions {
  /** Default `full`: an append is on the disk when it returns. `relaxed`: a power cut may take the last ones. */
  readonly durability?: "full" | "relaxed";
  /** How long to wait for other connections before `LogBusy`. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Default: a warning of the process. */
  readonly onNotice?: (notice: LogNotice) => void;
  /** How to open the database, for tests. Default: node:sqlite's `DatabaseSync`. */
  readonly openDatabase?: OpenDatabase;
}

const sql = {
  create: `INSERT INTO moora_sessions (id, header, head, digest) VALUES (?, ?, 0, ?)
    ON CONFLICT DO NOTHING RETURNING life`,
  open: "SELECT life, header FROM moora_sessions WHERE id = ?",
  list: "SELECT id, header, head FROM moora_sessions",
  remove: "DELETE FROM moora_sessions WHERE id = ? RETURNING life",
} as const;

/**
 * A log in a SQLite database: a file, which several processes of one machine may share, or ":memory:". Every call is
 * synchronous. Opens the database at once: `UnsupportedVersion`, `LogCorrupt`, `LogBusy` or `LogWrite` when it cannot.
 */
export function sqliteLog(file: string, options: SqliteOptions = {}): EventLog {
  const { durability = "full", busyTimeoutMs = 5_000, onNotice = warn } = options;
  const { openDatabase = openSqlite } = options;
  return new SqliteLog(new Connection(file, { durability, busyTimeoutMs, openDatabase }), onNotice);
}

class SqliteLog implements EventLog {
  readonly name = "sqlite";
  readonly #connection: Connection;
  readonly #watch: DatabaseWatch;
  readonly #onNotice: (notice: LogNotice) => void;

  constructor(connection: Connection, onNotice: (notice: LogNotice) => void) {
    this.#connection = connection;
    this.#watch = new DatabaseWatch(connection);
    this.#onNotice = onNotice;
  }

  create(id: string, header: string): SessionLog {
    this.#connection.renew();
    const values = [checkedId(id), checkedHeader(header), chainStart(header).digest] as const;
    const row = this.#connection.run("create", () => this.#connection.one(sql.create, ...values));
    if (row === undefined) throw logExists(id);
    return this.#handle(Number(row["life"]), id, header);
  }

  open(id: string): SessionLog | undefined {
    this.#connection.renew();
    const row = this.#connection.run("open", () => this.#connection.one(sql.open, checkedId(id)));
    return row === undefined ? undefined : this.#handle(Number(row["life"]), id, String(row["header"]));
  }

  list(): readonly LogInfo[] {
    const rows = this.#connection.run("list", () => this.#connection.all(sql.list));
    return rows
      .map((row) => ({
        id: String(row["id"]),
        head: Number(row["head"]),
        header: String(row["header"]),
      }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  remove(id: string): boolean {
    const row = this.#connection.run("remove", () => this.#connection.one(sql.remove, checkedId(id)));
    if (row === undefined) return false;
    this.#watch.notify(Number(row["life"]));
    return true;
  }

  close(): void {
    this.#watch.close();
    this.#connection.close();
  }

  #handle(life: number, id: string, header: string): SessionLog {
    return new SqliteSession({ life, id, header }, this.#connection, this.#watch, this.#onNotice);
  }
}
