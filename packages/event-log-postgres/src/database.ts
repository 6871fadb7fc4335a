import { LogError } from "@moora/event-log";
import { postgresFailure, troubleOf } from "./postgres-failure.ts";
import type { PostgresClient, PostgresPool } from "./postgres-pool.ts";
import { type Statements, statementsOf } from "./statements.ts";
import { prepareTables, type Tables } from "./tables.ts";

export type Row = Readonly<Record<string, unknown>>;

export type Query = (sql: string, ...values: readonly unknown[]) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  readonly tables: Tables;
  readonly busyTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly notify: boolean;
  /** Whether the pool was made for this log, and ends with it. */
  readonly isOwnPool: boolean;
}

const shortestWaitMs = 5;
const longestWaitMs = 200;

const ignore = (): void => undefined;

/** The way to the server: connections from a pool, again and again when they break, within limits. */
export class Database {
  readonly statements: Statements;
  /** The channel on which appends are told of; null when they are not. */
  readonly channel: string | null;
  readonly #pool: PostgresPool;
  readonly #options: DatabaseOptions;
  #prepared: Promise<void> | undefined;
  #isClosed = false;

  constructor(pool: PostgresPool, options: DatabaseOptions) {
    this.statements = statementsOf(options.tables);
    this.channel = options.notify ? options.tables.channel : null;
    this.#pool = pool;
    this.#options = options;
    // An idle connection that breaks is replaced when it is needed; without a listener it would end the process.
    pool.on("error", ignore);
  }

  /** The rows of one statement that may be sent again when nobody knows whether it took effect. */
  async rows(what: string, sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    return this.run(what, async (query) => query(sql, ...values));
  }

  /**
   * Runs an operation, which may ask several queries. When the connection breaks, or the server is busy, all of it is run
   * again; `isAgain` says so. In the end `LogBusy`, when surely nothing was done, or `LogWrite`.
   */
  async run<T>(what: string, operation: (query: Query, isAgain: boolean) => Promise<T>): Promise<T> {
    const start = performance.now();
    let isAgain = false;
    let hasBegun = false;
    for (let waitMs = shortestWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
      if (this.#isClosed) throw new LogError("LogWrite", `${what} failed: the log is closed`);
      try {
        return await this.#withClient(async (client) => {
          hasBegun = true;
          return operation(async (sql, ...values) => this.#answer(client, sql, values), isAgain);
        });
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === "refused" || performance.now() - start >= this.#options.busyTimeoutMs) {
          throw isAgain ? inDoubt(what, error) : postgresFailure(what, error);
        }
        isAgain ||= hasBegun && trouble === "lost";
        await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())));
      }
    }
  }

  /** Lends a connection for as long as `use` takes, and does not take it back: whatever it was used for ends with it. */
  async keepClient(use: (client: PostgresClient) => Promise<void>): Promise<void> {
    await this.#withClient(use, true);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Connections may still break while they are being closed: the listener goes only from a pool that lives on.
    if (this.#options.isOwnPool) await this.#pool.end();
    else this.#pool.off("error", ignore);
  }

  /** Lends a connection to a database whose tables are there. One that broke does not go back to the pool. */
  async #withClient<T>(use: (client: PostgresClient) => Promise<T>, isSpent = false): Promise<T> {
    const client = await this.#connect();
    quiet(client);
    let isBroken = isSpent;
    try {
      await this.#prepare(client);
      return await use(client);
    } catch (error) {
      isBroken ||= troubleOf(error) === "lost";
      throw error;
    } finally {
      client.release(isBroken);
    }
  }

  /** A connection of the pool. One that comes too late goes back at once. */
  async #connect(): Promise<PostgresClient> {
    const { busyTimeoutMs } = this.#options;
    const connecting = this.#pool.connect();
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      void connecting.then((client) => client.release(), ignore);
      limit.reject(new LogError("LogBusy", `no connection was free within ${busyTimeoutMs} ms`));
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
      await this.#prepared;
    } catch (error) {
      this.#prepared = undefined;
      throw error;
    }
  }

  /** A server that says nothing for too long is as good as lost. */
  async #answer(client: PostgresClient, sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => limit.reject(new Error(`the server did not answer within ${this.#options.answerTimeoutMs} ms`)),
      this.#options.answerTimeoutMs,
    );
    try {
      return (await Promise.race([client.query(sql, [...values]), limit.promise])).rows;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** After a break nobody can say any more that surely nothing was done. */
function inDoubt(what: string, error: unknown): unknown {
  const failure = postgresFailure(what, error);
  if (!(failure instanceof LogError) || failure.code !== "LogBusy") return failure;
  const message = `${what} may have been done when the connection broke; since then: ${failure.message}`;
  return new LogError("LogWrite", message, { cause: error });
}

const quieted = new WeakSet<PostgresClient>();

/** A connection that breaks says so to whoever awaits a query; said to nobody, it would end the process. */
function quiet(client: PostgresClient): void {
  if (quieted.has(client)) return;
  quieted.add(client);
  client.on("error", ignore);
}
