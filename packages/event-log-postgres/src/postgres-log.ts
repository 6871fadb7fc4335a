import { randomUUID } from "node:crypto";
import {
  LogError,
  type BlobStore,
  type DisposableLog,
  type DueQuery,
  type DueSession,
  type LeaseClaim,
  type LiveChannel,
  type LogInfo,
  type LogNotice,
  type PageQuery,
  type SessionLog,
} from "@moora/event-log";
import {
  headerToKeys,
  leaseAfter,
  logExists,
  optionForms,
  validateOptions,
  validHeader,
  validId,
  warn,
  type HeadWatch,
  type OptionForms,
} from "@moora/event-log/store";
import { postgresBlobs } from "./blobs.ts";
import { Database } from "./database.ts";
import { watchDatabase } from "./database-watch.ts";
import { PostgresLive } from "./live/postgres-live.ts";
import { Notifications } from "./notifications.ts";
import { LazyPool } from "./lazy-pool.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { PostgresSession } from "./session.ts";
import { SessionIndex } from "./session-index.ts";
import { storedToText, textToStored } from "./stored-text.ts";
import { tablesOf } from "./tables.ts";

/** Options of {@link postgresLog}. */
export interface PostgresOptions {
  /** The schema of the tables, which is created if it does not exist. Default: the default schema of the connection. */
  readonly schema?: string;
  /** The prefix of the table names. Default `moora_`. */
  readonly prefix?: string;
  /**
   * How long to wait for a connection, a lock or an unreachable server before `LogBusy` or `LogWrite`, in milliseconds.
   * Default 5,000.
   */
  readonly busyTimeoutMs?: number;
  /** How long the server may take for one statement before the connection counts as lost, in milliseconds. Default 60,000. */
  readonly statementTimeoutMs?: number;
  /**
   * Whether appends notify other processes immediately. Commits that notify are serialized. If false, watches poll each
   * second. Default true.
   */
  readonly notify?: boolean;
  /**
   * Whether servers on this log send what they stream to each other, as notifications of PostgreSQL. Needs connections that
   * forward notifications. Default true.
   */
  readonly live?: boolean;
  /** Called with notices about skipped data. Default: emits a process warning. */
  readonly onNotice?: (notice: LogNotice) => void;
}

const postgresForms: OptionForms<PostgresOptions> = {
  schema: optionForms.string,
  prefix: optionForms.string,
  busyTimeoutMs: optionForms.milliseconds,
  statementTimeoutMs: optionForms.milliseconds,
  notify: optionForms.boolean,
  live: optionForms.boolean,
  onNotice: optionForms.function,
};

/**
 * A log in PostgreSQL, over a pool of `pg` or a connection string. It connects and creates its tables on first use. `close`
 * ends a pool that was created from a connection string; a pool that was passed in stays open. Throws `InvalidOption`
 * if `source` is neither of the two, and for an unknown or invalid option.
 */
export function postgresLog(source: PostgresPool | string, options: PostgresOptions = {}): DisposableLog {
  validateSource(source);
  validateOptions("postgresLog", options, postgresForms);
  const { schema, prefix = "moora_", busyTimeoutMs = 5_000, statementTimeoutMs = 60_000 } = options;
  const { notify = true, live = true, onNotice = warn } = options;
  const limits = { busyTimeoutMs, statementTimeoutMs };
  const pool = typeof source === "string" ? poolOf(source, limits) : source;
  const isOwnPool = typeof source === "string";
  const database = new Database(pool, { tables: tablesOf(schema, prefix), ...limits, notify, isOwnPool });
  return new PostgresLog(database, { live, onNotice });
}

/** The message does not contain a value: connection strings have passwords. */
function validateSource(source: unknown): void {
  if (typeof source === "string" && source !== "") return;
  if (typeof source === "object" && source !== null && typeof Reflect.get(source, "connect") === "function")
    return;
  const got =
    source === "" ? "an empty string" : source === null ? "null" : `a value of type ${typeof source}`;
  throw new LogError("InvalidOption", `postgresLog needs a connection string or a pool of pg, got ${got}.`);
}

const poolOf = (
  connectionString: string,
  {
    busyTimeoutMs,
    statementTimeoutMs,
  }: { readonly busyTimeoutMs: number; readonly statementTimeoutMs: number },
): PostgresPool =>
  new LazyPool({
    connectionString,
    connectionTimeoutMillis: busyTimeoutMs,
    lock_timeout: busyTimeoutMs,
    statement_timeout: statementTimeoutMs,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "moora",
  });

class PostgresLog implements DisposableLog {
  readonly name = "postgres";
  readonly #database: Database;
  readonly #index: SessionIndex;
  readonly #watch: HeadWatch;
  readonly #onNotice: (notice: LogNotice) => void;
  readonly #notifications: Notifications;
  readonly blobs: BlobStore;
  readonly live?: LiveChannel;

  constructor(database: Database, { live, onNotice }: Required<Pick<PostgresOptions, "live" | "onNotice">>) {
    this.blobs = postgresBlobs(database);
    this.#database = database;
    this.#index = new SessionIndex(database);
    this.#notifications = new Notifications(database);
    this.#watch = watchDatabase(database, this.#notifications);
    if (live) this.live = new PostgresLive(database, this.#notifications);
    this.#onNotice = onNotice;
  }

  async create(id: string, header: string, claim?: LeaseClaim): Promise<SessionLog> {
    const generation = randomUUID();
    const [storedId, storedHeader] = [validId(id), validHeader(header)].map(textToStored);
    const { user, caller } = headerToKeys(header);
    const lease = claim && leaseAfter(undefined, claim);
    const leased = lease === undefined ? [null, null] : [textToStored(lease.owner), lease.until];
    const { statements } = this.#database;
    // The client chooses the key of the generation, so that a retry after a broken connection finds its own row.
    const [row] = await this.#database.run("create a session", async (query) => {
      await query(statements.create, generation, storedId, storedHeader, user, caller, ...leased);
      return query(statements.open, storedId);
    });
    if (row?.["generation"] !== generation) throw logExists(id);
    return this.#handle(generation, id, header);
  }

  async open(id: string): Promise<SessionLog | undefined> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows("open a session", statements.open, textToStored(validId(id)));
    return row && this.#handle(String(row["generation"]), id, storedToText(String(row["header"])));
  }

  async list(): Promise<readonly LogInfo[]> {
    return this.#index.list();
  }

  async page(query: PageQuery): Promise<readonly LogInfo[]> {
    return this.#index.page(query);
  }

  async called(prefix: string): Promise<readonly LogInfo[]> {
    return this.#index.called(prefix);
  }

  async due({ now, limit, after }: DueQuery): Promise<readonly DueSession[]> {
    const values = [now, after?.due ?? -1, textToStored(after?.id ?? ""), limit];
    const rows = await this.#database.rows("list the due sessions", this.#database.statements.due, ...values);
    return rows.map((row) => ({
      id: storedToText(String(row["id"])),
      header: storedToText(String(row["header"])),
      due: Number(row["due"]),
    }));
  }

  async remove(id: string): Promise<boolean> {
    const { statements } = this.#database;
    const [row] = await this.#database.rows("remove a session", statements.open, textToStored(validId(id)));
    if (row === undefined) return false;
    await this.#database.rows("remove a session", statements.remove, row["generation"]);
    this.#watch.notify(String(row["generation"]));
    return true;
  }

  async close(): Promise<void> {
    this.#watch.close();
    this.#notifications.close();
    await this.#database.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #handle(generation: string, id: string, header: string): SessionLog {
    return new PostgresSession({ generation, id, header }, this.#database, this.#watch, this.#onNotice);
  }
}
