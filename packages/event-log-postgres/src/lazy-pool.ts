import { LogError } from "@moora/event-log";
import type { PoolConfig } from "pg";
import type { PostgresClient, PostgresPool } from "./postgres-pool.ts";

/** A pool of `pg` that is loaded and created when the first connection is requested. */
export class LazyPool implements PostgresPool {
  readonly #config: PoolConfig;
  readonly #listeners = new Set<() => void>();
  #pool: Promise<PostgresPool> | undefined;

  constructor(config: PoolConfig) {
    this.#config = config;
  }

  /** Rejects with a `LogError` that names the package to install if `pg` is missing. */
  async connect(): Promise<PostgresClient> {
    this.#pool ??= this.#load();
    return (await this.#pool).connect();
  }

  on(_event: "error", listener: () => void): void {
    this.#listeners.add(listener);
  }

  off(_event: "error", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  async end(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.end();
  }

  async #load(): Promise<PostgresPool> {
    const { default: pg } = await import("pg").catch(throwMissingPackage);
    const pool: PostgresPool = new pg.Pool(this.#config);
    pool.on("error", () => {
      for (const listener of this.#listeners) listener();
    });
    return pool;
  }
}

function throwMissingPackage(error: unknown): never {
  const isMissing =
    error instanceof Error &&
    "code" in error &&
    error.code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes("'pg'");
  throw isMissing
    ? new LogError("LogWrite", "postgresLog needs the package pg. Run: npm install pg", { cause: error })
    : error;
}
