import { optionForms, validateOptions, type OptionForms } from "./validate-options.ts";
import { validateLocation, logExists, validHeader, validId } from "./validation.ts";
import { chainStart } from "./chain.ts";
import { headerToKeys } from "./header-fields.ts";
import type { HeadWatch } from "./head-watch.ts";
import { leaseAfter } from "./lease.ts";
import { andThen } from "./maybe-promise.ts";
import type {
  BlobStore,
  DisposableLog,
  DueQuery,
  DueSession,
  LeaseClaim,
  LogInfo,
  LogNotice,
  MaybePromise,
  PageQuery,
  SessionLog,
} from "./port.ts";
import { sqliteBlobs } from "./sqlite/blobs.ts";
import { Connection } from "./sqlite/connection.ts";
import { watchDatabase } from "./sqlite/database-watch.ts";
import { loadSqlite } from "./sqlite/load-sqlite.ts";
import type { OpenDatabase } from "./sqlite/open-database.ts";
import { SessionIndex } from "./sqlite/session-index.ts";
import { Prefix } from "./sqlite/prefix.ts";
import { SqlSession, type SqlParts } from "./sqlite/session.ts";
import { warn } from "./warn.ts";

export { sqliteMemoryStore } from "./sqlite/sqlite-memory-store.ts";
export type { SqliteMemoryStoreOptions } from "./sqlite/sqlite-memory-store.ts";
export type { OpenDatabase };

/** Options of {@link sqliteLog}. */
export interface SqliteOptions {
  /** Default `full`: an append is on the disk when it returns. `relaxed`: a power cut may lose the last appends. */
  readonly durability?: "full" | "relaxed";
  /** How long to wait for other connections before `LogBusy`, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Called with notices about skipped data. Default: emits a process warning. */
  readonly onNotice?: (notice: LogNotice) => void;
  /** Opens the database; for tests. Default: `DatabaseSync` of `node:sqlite`. */
  readonly openDatabase?: OpenDatabase;
}

const sqliteForms: OptionForms<SqliteOptions> = {
  durability: optionForms.durability,
  busyTimeoutMs: optionForms.milliseconds,
  onNotice: optionForms.function,
  openDatabase: optionForms.function,
};

const sql = {
  create: `INSERT INTO moora_sessions (id, header, digest, user_key, caller_key, lease_owner, lease_until, head)
    VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING RETURNING generation`,
  open: "SELECT generation, header FROM moora_sessions WHERE id = ?",
  due: `SELECT id, header, due FROM moora_due JOIN moora_sessions USING (generation)
    WHERE due <= ?1 AND (lease_until IS NULL OR lease_until <= ?1) AND (due, id) > (?2, ?3)
    ORDER BY due, id LIMIT ?4`,
  resetDue: `INSERT INTO moora_due VALUES (?, 0) ON CONFLICT (generation) DO UPDATE SET due = 0 WHERE due IS NOT 0`,
  saveDue: "UPDATE moora_due SET due = ? WHERE generation = ?",
  remove: "DELETE FROM moora_sessions WHERE id = ? RETURNING generation",
  removeGeneration: "DELETE FROM moora_sessions WHERE generation = ?",
} as const;

/**
 * A log in a SQLite database: a file, which processes of one machine may share, or ":memory:". A call returns synchronously,
 * or returns a promise while another process keeps the database locked.
 *
 * Needs Node.js 22.13 or newer; throws `UnsupportedRuntime` otherwise. Opens the database immediately and creates it if it does
 * not exist; only the user that creates the files can read them. Throws `UnsupportedVersion`, `LogCorrupt` or `LogWrite`, with
 * the path, if that fails, and `InvalidOption` if `file` is not a path or an option is unknown or of the
 * wrong form. A database that this process may not write is opened for reading.
 */
export function sqliteLog(file: string, options: SqliteOptions = {}): DisposableLog {
  validateLocation("sqliteLog", 'the path of a file, or ":memory:"', file);
  validateOptions("sqliteLog", options, sqliteForms);
  const { durability = "full", busyTimeoutMs = 5_000, onNotice = warn } = options;
  const { openDatabase = (path, how) => new (loadSqlite().DatabaseSync)(path, how) } = options;
  return new SqliteLog(new Connection(file, { durability, busyTimeoutMs, openDatabase }), onNotice);
}

class SqliteLog implements DisposableLog {
  readonly name = "sqlite";
  readonly #connection: Connection;
  readonly #index: SessionIndex;
  readonly #watch: HeadWatch;
  readonly #parts: SqlParts;
  readonly blobs: BlobStore;

  constructor(connection: Connection, onNotice: (notice: LogNotice) => void) {
    this.blobs = sqliteBlobs(connection);
    this.#connection = connection;
    this.#index = new SessionIndex(connection);
    this.#watch = watchDatabase(connection);
    this.#parts = {
      database: connection,
      watch: this.#watch,
      onNotice,
      prefixOf: (log, generation) => new Prefix(log, connection, generation),
      onAppend: (generation) => connection.do(sql.resetDue, generation),
      remove: (generation) => connection.do(sql.removeGeneration, generation),
      saveDue: (generation, due) => connection.do(sql.saveDue, due, generation),
    };
  }

  create(id: string, header: string, claim?: LeaseClaim): MaybePromise<SessionLog> {
    const { user, caller } = headerToKeys(validHeader(header));
    const { owner = null, until = null } = (claim && leaseAfter(undefined, claim)) ?? {};
    const values = [validId(id), header, chainStart(header).digest, user, caller, owner, until] as const;
    this.#connection.renew();
    const create = () => this.#connection.one(sql.create, ...values);
    return andThen(this.#connection.run("create a session", create), (row) => {
      if (row === undefined) throw logExists(id);
      return this.#handle(Number(row["generation"]), id, header);
    });
  }

  open(id: string): MaybePromise<SessionLog | undefined> {
    validId(id);
    this.#connection.renew();
    const find = () => this.#connection.one(sql.open, id);
    return andThen(this.#connection.run("open a session", find), (row) =>
      row === undefined ? undefined : this.#handle(Number(row["generation"]), id, String(row["header"])),
    );
  }

  list(): MaybePromise<readonly LogInfo[]> {
    return this.#index.list();
  }

  page(query: PageQuery): MaybePromise<readonly LogInfo[]> {
    return this.#index.page(query);
  }

  called(prefix: string): MaybePromise<readonly LogInfo[]> {
    return this.#index.called(prefix);
  }

  due({ now, limit, after }: DueQuery): MaybePromise<readonly DueSession[]> {
    const values = [now, after?.due ?? -1, after?.id ?? "", limit] as const;
    const rows = this.#connection.run("list the due sessions", () =>
      this.#connection.all(sql.due, ...values),
    );
    return andThen(rows, (all) =>
      all.map((row) => ({ id: String(row["id"]), header: String(row["header"]), due: Number(row["due"]) })),
    );
  }

  remove(id: string): MaybePromise<boolean> {
    validId(id);
    const remove = () => this.#connection.one(sql.remove, id);
    return andThen(this.#connection.run("remove a session", remove), (row) => {
      if (row === undefined) return false;
      this.#watch.notify(String(row["generation"]));
      return true;
    });
  }

  close(): void {
    this.#watch.close();
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #handle(generation: number, id: string, header: string): SessionLog {
    return new SqlSession({ generation, id, header }, this.#parts);
  }
}
