import { checkPlace, logExists, validHeader, validId } from "./validation.ts";
import { chainStart } from "./chain.ts";
import type { HeadWatch } from "./head-watch.ts";
import { andThen } from "./maybe-promise.ts";
import type { EventLog, LogInfo, LogNotice, MaybePromise, SessionLog } from "./port.ts";
import { sortedById } from "./rows.ts";
import { Connection } from "./sqlite/connection.ts";
import { watchDatabase } from "./sqlite/database-watch.ts";
import { loadSqlite } from "./sqlite/load-sqlite.ts";
import type { OpenDatabase } from "./sqlite/open-database.ts";
import { SqliteSession } from "./sqlite/session.ts";
import { warn } from "./warn.ts";

export type { OpenDatabase };

export interface SqliteOptions {
  /** Default `full`: an append is on the disk when it returns. `relaxed`: a power cut may take the last ones. */
  readonly durability?: "full" | "relaxed";
  /** How long to wait for other connections before `LogBusy`, in milliseconds. Default 5,000. */
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
 * A log in a SQLite database: a file, which several processes of one machine may share, or ":memory:". A call answers
 * synchronously, or with a promise while another process keeps the database locked.
 *
 * Needs Node.js 22.13 (`UnsupportedRuntime`). Opens the database at once, and makes it if there is none: the file and the
 * files beside it are readable by their owner only. Throws `UnsupportedVersion`, `LogCorrupt` or `LogWrite`, with the path,
 * if it cannot, and `InvalidOption` if `file` is not a path. A database that this process may not write is opened for reading.
 */
export function sqliteLog(file: string, options: SqliteOptions = {}): EventLog {
  checkPlace("sqliteLog", 'the path of a file, or ":memory:"', file, options);
  const { durability = "full", busyTimeoutMs = 5_000, onNotice = warn } = options;
  const { openDatabase = (path, how) => new (loadSqlite().DatabaseSync)(path, how) } = options;
  return new SqliteLog(new Connection(file, { durability, busyTimeoutMs, openDatabase }), onNotice);
}

class SqliteLog implements EventLog {
  readonly name = "sqlite";
  readonly #connection: Connection;
  readonly #watch: HeadWatch;
  readonly #onNotice: (notice: LogNotice) => void;

  constructor(connection: Connection, onNotice: (notice: LogNotice) => void) {
    this.#connection = connection;
    this.#watch = watchDatabase(connection);
    this.#onNotice = onNotice;
  }

  create(id: string, header: string): MaybePromise<SessionLog> {
    const values = [validId(id), validHeader(header), chainStart(header).digest] as const;
    this.#connection.renew();
    const create = () => this.#connection.one(sql.create, ...values);
    return andThen(this.#connection.run("create a session", create), (row) => {
      if (row === undefined) throw logExists(id);
      return this.#handle(Number(row["life"]), id, header);
    });
  }

  open(id: string): MaybePromise<SessionLog | undefined> {
    validId(id);
    this.#connection.renew();
    const find = () => this.#connection.one(sql.open, id);
    return andThen(this.#connection.run("open a session", find), (row) =>
      row === undefined ? undefined : this.#handle(Number(row["life"]), id, String(row["header"])),
    );
  }

  list(): MaybePromise<readonly LogInfo[]> {
    const rows = this.#connection.run("list the sessions", () => this.#connection.all(sql.list));
    return andThen(rows, (all) =>
      sortedById(
        all.map((row) => ({
          id: String(row["id"]),
          head: Number(row["head"]),
          header: String(row["header"]),
        })),
      ),
    );
  }

  remove(id: string): MaybePromise<boolean> {
    validId(id);
    const remove = () => this.#connection.one(sql.remove, id);
    return andThen(this.#connection.run("remove a session", remove), (row) => {
      if (row === undefined) return false;
      this.#watch.notify(String(row["life"]));
      return true;
    });
  }

  close(): void {
    this.#watch.close();
    this.#connection.close();
  }

  #handle(life: number, id: string, header: string): SessionLog {
    return new SqliteSession({ life, id, header }, this.#connection, this.#watch, this.#onNotice);
  }
}
