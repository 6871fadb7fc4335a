import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { LogError } from "../log-error.ts";
import { mapError } from "../maybe-promise.ts";
import type { MaybePromise } from "../port.ts";
import { type Attempt, retryWhileBusy } from "../retry-while-busy.ts";
import { logClosed } from "../validation.ts";
import { inMemory, type OpenDatabase, type OpenedDatabase, openLogDatabase } from "./open-database.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { isBusy, sqliteFailure } from "./sqlite-failure.ts";

export type Row = Record<string, SQLOutputValue>;

export interface ConnectionOptions {
  readonly durability: "full" | "relaxed";
  readonly busyTimeoutMs: number;
  readonly openDatabase: OpenDatabase;
}

/** The connection of a log to its database: prepared statements, transactions, and conversion of errors to `LogError`. */
export class Connection implements SqlDatabase {
  readonly file: string;
  readonly #options: ConnectionOptions;
  readonly #statements = new Map<string, StatementSync>();
  #opened: OpenedDatabase | undefined;
  #isClosed = false;
  #failure: unknown;
  #epoch = 0;

  /** Opens the database. If another process keeps it locked, the first operation opens it. */
  constructor(file: string, options: ConnectionOptions) {
    this.file = file;
    this.#options = options;
    try {
      this.#database();
    } catch (error) {
      if (!isBusy(error)) throw sqliteFailure("open", file, error);
    }
  }

  get isInMemory(): boolean {
    return this.file === inMemory;
  }

  /** Whether this process may not write the database. Known once an operation has run. */
  get isReadOnly(): boolean {
    return this.#opened?.isReadOnly === true;
  }

  /** Incremented by each failed write. Handles of an earlier epoch refuse to write. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Runs an operation; retries asynchronously while another process keeps the database locked. */
  run<T>(what: string, operation: () => T): MaybePromise<T> {
    const tryOnce = (): Attempt<T> => {
      if (this.#isClosed) throw logClosed();
      try {
        this.#database();
        return { value: operation() };
      } catch (error) {
        if (isBusy(error)) return undefined;
        throw error;
      }
    };
    const { busyTimeoutMs } = this.#options;
    return mapError(
      () => retryWhileBusy(tryOnce, () => ({ busyTimeoutMs, what: this.file })),
      (error) => sqliteFailure(what, this.file, error),
    );
  }

  /** Runs an operation in a read transaction: all its queries see the same state of the database. */
  read<T>(what: string, operation: () => T): MaybePromise<T> {
    return this.run(what, () => this.#transaction("BEGIN", operation));
  }

  /** Runs an operation in a write transaction, for a handle of this epoch. */
  write<T>(what: string, epoch: number, operation: () => T): MaybePromise<T> {
    let hasBegun = false;
    const current = (): T => {
      if (epoch !== this.#epoch) {
        throw new LogError("LogWrite", `An earlier write to ${this.file} failed. Open the session again.`, {
          cause: this.#failure,
        });
      }
      this.#checkWritable(what);
      hasBegun = true;
      return this.#transaction("BEGIN IMMEDIATE", operation);
    };
    return mapError(
      () => this.run(what, current),
      (error) => {
        if (hasBegun && error instanceof LogError && error.code === "LogWrite") this.#fail(error);
        return error;
      },
    );
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

  /** After a failed write, closes the connection, so that the next operation reads the stored data on a new one. */
  renew(): void {
    if (this.#failure === undefined || this.#isClosed) return;
    if (!this.isInMemory) this.#closeDatabase();
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

  #database(): DatabaseSync {
    const { durability, openDatabase } = this.#options;
    this.#opened ??= openLogDatabase(this.file, durability, openDatabase);
    return this.#opened.database;
  }

  #checkWritable(what: string): void {
    if (!this.isReadOnly) return;
    throw new LogError(
      "LogWrite",
      `The log could not ${what}: this process has no permission to write ${this.file}.`,
    );
  }

  #closeDatabase(): void {
    this.#statements.clear();
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  #transaction<T>(begin: string, operation: () => T): T {
    this.do(begin);
    let isOpen = true;
    try {
      const result = operation();
      this.do("COMMIT");
      isOpen = false;
      return result;
    } finally {
      if (isOpen) this.#rollBack();
    }
  }

  /** After some errors SQLite has already ended the transaction; then ROLLBACK fails and is not needed. */
  #rollBack(): void {
    try {
      this.do("ROLLBACK");
    } catch {
      // The error of the operation is the one that is thrown.
    }
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database().prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
