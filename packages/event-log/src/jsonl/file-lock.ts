import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { whenFree } from "../sqlite/busy.ts";
import { openSqlite } from "../sqlite/open-sqlite.ts";

interface Lock {
  readonly database: DatabaseSync;
  readonly take: StatementSync;
  readonly release: StatementSync;
}

/**
 * Locks between processes that end with the process that holds them. Node has no `flock`, but SQLite locks its files
 * with the operating system's locks: a transaction that writes nothing, on an empty database beside the logs, is
 * such a lock, and takes about 10 µs. Sixteen of them serve all sessions.
 */
export class FileLocks {
  readonly #directory: string;
  readonly #busyTimeoutMs: number;
  readonly #locks = new Map<string, Lock>();

  constructor(directory: string, busyTimeoutMs: number) {
    this.#directory = directory;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** Runs what needs the files of one name for itself. `LogBusy` when others hold on to them for too long. */
  withLock<T>(name: string, use: () => T): T {
    const lock = this.#lock(name.slice(-1));
    whenFree(this.#busyTimeoutMs, () => lock.take.run());
    try {
      return use();
    } finally {
      lock.release.run();
    }
  }

  close(): void {
    for (const { database } of this.#locks.values()) database.close();
    this.#locks.clear();
  }

  #lock(stripe: string): Lock {
    const known = this.#locks.get(stripe);
    if (known !== undefined) return known;
    const database = openSqlite(join(this.#directory, `.lock-${stripe}`), { timeout: 0 });
    // With its journal in memory, SQLite touches no file but the lock itself.
    database.exec("PRAGMA journal_mode = MEMORY");
    const lock = {
      database,
      take: database.prepare("BEGIN IMMEDIATE"),
      release: database.prepare("ROLLBACK"),
    };
    this.#locks.set(stripe, lock);
    return lock;
  }
}
