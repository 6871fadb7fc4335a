import { existsSync } from "node:fs";
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { LogError } from "../log-error.ts";
import { whenFree } from "./busy.ts";
import { hasTables, makeTables } from "./schema.ts";
import { sqliteFailure } from "./sqlite-failure.ts";

export type Row = Record<string, SQLOutputValue>;

/** Opens a database; tests give another to see what becomes of its failures. */
export type OpenDatabase = (
  file: string,
  options: {
    readonly readOnly?: boolean;
    readonly timeout: number;
    readonly enableForeignKeyConstraints: boolean;
  },
) => DatabaseSync;

export interface ConnectionOptions {
  readonly durability: "full" | "relaxed";
  readonly busyTimeoutMs: number;
  readonly openDatabase: OpenDatabase;
}

/** The one connection of a log to its database: prepared statements, transactions, and errors as the port has them. */
export class Connection {
  readonly file: string;
  readonly #options: ConnectionOptions;
  readonly #statements = new Map<string, StatementSync>();
  #database: DatabaseSync | undefined;
  #isClosed = false;
  #failure: unknown;
  #epoch = 0;

  constructor(file: string, options: ConnectionOptions) {
    this.file = file;
    this.#options = options;
    this.run("open", () => this.#open());
  }

  get isInMemory(): boolean {
    return this.file === ":memory:";
  }

  /** Grows with each failed write: a handle that is older than one does not write any more. */
  get epoch(): number {
    return this.#epoch;
  }

  run<T>(what: string, operation: () => T): T {
    if (this.#isClosed) throw new LogError("LogWrite", `${what} failed: the log is closed`);
    try {
      return whenFree(this.#options.busyTimeoutMs, operation);
    } catch (error) {
      throw sqliteFailure(what, error);
    }
  }

  /** Runs an operation that sees one state of the database, whatever others commit meanwhile. */
  read<T>(what: string, operation: () => T): T {
    return this.run(what, () => this.#transaction("BEGIN", operation));
  }

  /** Runs an operation in a transaction that no other writer can come between, for a handle of an epoch. */
  write<T>(what: string, epoch: number, operation: () => T): T {
    if (epoch !== this.#epoch) {
      throw new LogError("LogWrite", "an earlier write failed: open the session again to go on", {
        cause: this.#failure,
      });
    }
    try {
      return this.run(what, () => this.#transaction("BEGIN IMMEDIATE", operation));
    } catch (error) {
      if (error instanceof LogError && error.code === "LogWrite") this.#fail(error);
      throw error;
    }
  }

  one(sql: string, ...values: readonly SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    return this.#prepared(sql).all(...values);
  }

  do(sql: string, ...values: readonly SQLInputValue[]): void {
    this.#prepared(sql).run(...values);
  }

  /** After a failed write: another connection, which reads what is really there. */
  renew(): void {
    if (this.#failure === undefined || this.#isClosed) return;
    if (!this.isInMemory) {
      this.#closeDatabase();
      this.run("open", () => this.#open());
    }
    this.#failure = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#closeDatabase();
  }

  #fail(error: LogError): void {
    this.#failure = error;
    this.#epoch += 1;
  }

  #open(): void {
    const { durability, openDatabase } = this.#options;
    const options = { timeout: 0, enableForeignKeyConstraints: true };
    if (!this.isInMemory && existsSync(this.file)) {
      // A file of a newer format is to stay as it is: setting up a connection that writes could change it.
      const database = openDatabase(this.file, { ...options, readOnly: true });
      try {
        hasTables(database);
      } finally {
        database.close();
      }
    }
    const database = openDatabase(this.file, options);
    try {
      database.exec("PRAGMA journal_mode = WAL");
      database.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
      if (!hasTables(database)) makeTables(database);
    } catch (error) {
      database.close();
      throw error;
    }
    this.#database = database;
  }

  #closeDatabase(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = undefined;
  }

  #transaction<T>(begin: string, operation: () => T): T {
    this.do(begin);
    try {
      const result = operation();
      this.do("COMMIT");
      return result;
    } finally {
      if (this.#database?.isTransaction === true) this.do("ROLLBACK");
    }
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#database === undefined) {
      throw new LogError("LogWrite", "the database could not be opened again after a failed write");
    }
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
