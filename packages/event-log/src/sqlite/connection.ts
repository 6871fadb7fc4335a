import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { LogError } from "../log-error.ts";
import { mapError } from "../maybe-promise.ts";
import type { MaybePromise } from "../port.ts";
import { type Try, whenFree } from "../when-free.ts";
import { inMemory, type OpenDatabase, type OpenedDatabase, openLogDatabase } from "./open-database.ts";
import { isBusy, sqliteFailure } from "./sqlite-failure.ts";

export type Row = Record<string, SQLOutputValue>;

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
  #opened: OpenedDatabase | undefined;
  #isClosed = false;
  #failure: unknown;
  #epoch = 0;

  /** Opens the database at once; while another process keeps it locked, the first operation does. */
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

  /** Grows with each failed write: a handle that is older than one does not write any more. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Runs an operation; again, after other work of the event loop, while another process keeps the database locked. */
  run<T>(what: string, operation: () => T): MaybePromise<T> {
    const tryOnce = (): Try<T> => {
      if (this.#isClosed) throw new LogError("LogWrite", `The log could not ${what}: it is closed.`);
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
      () => whenFree(tryOnce, { busyTimeoutMs, what: this.file }),
      (error) => sqliteFailure(what, this.file, error),
    );
  }

  /** Runs an operation that sees one state of the database, whatever others commit meanwhile. */
  read<T>(what: string, operation: () => T): MaybePromise<T> {
    return this.run(what, () => this.#transaction("BEGIN", operation));
  }

  /** Runs an operation in a transaction that no other writer can come between, for a handle of an epoch. */
  write<T>(what: string, epoch: number, operation: () => T): MaybePromise<T> {
    let hasBegun = false;
    const current = (): T => {
      if (epoch !== this.#epoch) {
        throw new LogError("LogWrite", `An earlier write to ${this.file} failed: open the session again.`, {
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

  /** After a failed write: the next operation uses another connection, which reads what is really there. */
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
    if (this.#opened?.isReadOnly !== true) return;
    throw new LogError("LogWrite", `The log could not ${what}: this process may only read ${this.file}.`);
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

  /** SQLite itself has ended a transaction after some errors; then there is nothing to roll back. */
  #rollBack(): void {
    try {
      this.do("ROLLBACK");
    } catch {
      // The error that led here is the one that is reported.
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
