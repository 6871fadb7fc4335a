import { randomUUID } from "node:crypto";
import { digestOf, LogError } from "@moora/event-log";
import { logClosed } from "@moora/event-log/store";
import { postgresFailure, failureKindOf, isUnknownName } from "./postgres-failure.ts";
import type { PostgresClient, PostgresPool, PostgresResult } from "./postgres-pool.ts";
import { type Statements, statementsOf } from "./statements.ts";
import { prepareTables, type Tables } from "./tables.ts";

/** A row of a result, by column. */
export type Row = Readonly<Record<string, unknown>>;

/** Sends a statement and returns its rows. */
export type Query = (sql: string, ...values: readonly unknown[]) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  readonly tables: Tables;
  readonly busyTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly notify: boolean;
  /** Whether the log created the pool, and ends it on `close`. */
  readonly isOwnPool: boolean;
}

const shortestWaitMs = 5;
const longestWaitMs = 200;

const ignore = (): void => undefined;

/** Runs statements on connections of a pool, and retries when connections break or the server is busy, up to a timeout. */
export class Database {
  readonly statements: Statements;
  /** The channel on which appends notify watchers; null if they do not. */
  readonly channel: string | null;
  readonly #pool: PostgresPool;
  readonly #options: DatabaseOptions;
  /** Distinguishes the notifications of this process from those of others. */
  readonly #token = randomUUID();
  /** The name under which the server keeps the plan of appends; undefined if it does not keep names. */
  #appendName: string | undefined;
  #prepared: Promise<string> | undefined;
  #logId = "";
  #isClosed = false;

  constructor(pool: PostgresPool, options: DatabaseOptions) {
    this.statements = statementsOf(options.tables);
    // The name contains the digest of the statement: other logs may share the connections, with other tables.
    this.#appendName = `moora_append_${digestOf(this.statements.append)}`;
    this.channel = options.notify ? options.tables.channel : null;
    this.#pool = pool;
    this.#options = options;
    // An idle connection that breaks is replaced when it is needed; without a listener it would end the process.
    pool.on("error", ignore);
  }

  /** The beginning of the names of tables and channels. */
  get prefix(): string {
    return this.#options.tables.prefix;
  }

  /** What identifies this log among those in the database. Known once there was a connection. */
  get logId(): string {
    return this.#logId;
  }

  /** The payload of the notification of an append. */
  notificationOf(generation: string): string {
    return `${generation} ${this.#token}`;
  }

  /** The generation that another process has appended to; undefined for an append of this log, which it has reported. */
  foreignGeneration(payload: string): string | undefined {
    const [generation, token] = payload.split(" ");
    return token === this.#token ? undefined : generation;
  }

  /** Runs one idempotent statement: it is sent again when it is unknown whether it took effect. */
  async rows(what: string, sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.run(what, async (query) => query(sql, ...values));
  }

  /**
   * Runs an operation of one or more queries. When the connection breaks or the server is busy, the whole operation is run
   * again; `isRetry` is true if an earlier attempt may have taken effect. At the timeout, fails with `LogBusy` if certainly
   * nothing was done, else with `LogWrite`.
   */
  async run<T>(what: string, operation: (query: Query, isRetry: boolean) => Promise<T>): Promise<T> {
    const start = performance.now();
    let isRetry = false;
    let hasBegun = false;
    for (let waitMs = shortestWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
      if (this.#isClosed) throw logClosed();
      try {
        return await this.#withClient(async (client) => {
          hasBegun = true;
          return operation(async (sql, ...values) => this.#query(client, sql, values), isRetry);
        });
      } catch (error) {
        const kind = failureKindOf(error);
        if (kind === "refused" || performance.now() - start >= this.#options.busyTimeoutMs)
          throw isRetry ? toUncertain(what, error) : postgresFailure(what, error);

        isRetry ||= hasBegun && kind === "lost";
        await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())));
      }
    }
  }

  /** Passes a connection to `use`, and destroys it after that instead of returning it to the pool. */
  async keepClient(use: (client: PostgresClient) => Promise<void>): Promise<void> {
    await this.#withClient(use, true);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Connections may break while they are being closed, so the listener is removed only from a pool that stays open.
    if (this.#options.isOwnPool) await this.#pool.end();
    else this.#pool.off("error", ignore);
  }

  /** Passes a connection to `use`, after creating the tables. A broken connection is not returned to the pool. */
  async #withClient<T>(use: (client: PostgresClient) => Promise<T>, isSingleUse = false): Promise<T> {
    const client = await this.#connect();
    ignoreErrors(client);
    let isBroken = isSingleUse;
    try {
      await this.#prepare(client);
      return await use(client);
    } catch (error) {
      isBroken ||= failureKindOf(error) === "lost";
      throw error;
    } finally {
      client.release(isBroken);
    }
  }

  /** Gets a connection of the pool. A connection that arrives after the timeout is released immediately. */
  async #connect(): Promise<PostgresClient> {
    const { busyTimeoutMs } = this.#options;
    const connecting = this.#pool.connect();
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      void connecting.then((client) => client.release(), ignore);
      limit.reject(
        new LogError(
          "LogBusy",
          `No connection was free within ${busyTimeoutMs} ms. Try again, or use a larger pool.`,
        ),
      );
    }, busyTimeoutMs);
    try {
      return await Promise.race([connecting, limit.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #prepare(client: PostgresClient): Promise<void> {
    this.#prepared ??= prepareTables(client, this.#options.tables);
    try {
      this.#logId = await this.#prepared;
    } catch (error) {
      this.#prepared = undefined;
      throw error;
    }
  }

  /** Sends a statement. A server that does not respond before the timeout counts as a lost connection. */
  async #query(client: PostgresClient, sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(
      () =>
        limit.reject(new Error(`The server did not respond within ${this.#options.statementTimeoutMs} ms`)),
      this.#options.statementTimeoutMs,
    );
    try {
      return (await Promise.race([this.#send(client, sql, [...values]), limit.promise])).rows;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Sends an append by the name of its plan, so that the server plans it once for each connection. Some poolers do not know
   * the names of statements; they reject them before they execute anything, and appends then have no name.
   */
  async #send(client: PostgresClient, text: string, values: unknown[]): Promise<PostgresResult> {
    const name = this.#appendName;
    if (name === undefined || text !== this.statements.append) return client.query(text, values);
    try {
      return await client.query({ name, text, values });
    } catch (error) {
      if (!isUnknownName(error)) throw error;
      this.#appendName = undefined;
      return client.query(text, values);
    }
  }
}

/** After a broken connection, `LogBusy` would be wrong, since the operation may have taken effect. */
function toUncertain(what: string, error: unknown): unknown {
  const failure = postgresFailure(what, error);
  if (!(failure instanceof LogError) || failure.code !== "LogBusy") return failure;
  const message = `The connection broke, so it is unknown whether the log could ${what}; then: ${failure.message}`;
  return new LogError("LogWrite", message, { cause: error });
}

const clientsWithHandler = new WeakSet<PostgresClient>();

/** Ignores error events: a pending query rejects too, and an error event without a listener would end the process. */
function ignoreErrors(client: PostgresClient): void {
  if (clientsWithHandler.has(client)) return;
  clientsWithHandler.add(client);
  client.on("error", ignore);
}
