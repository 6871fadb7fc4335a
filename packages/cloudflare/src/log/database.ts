import { LogError } from "@moora/event-log";
import { logClosed, type SqlDatabase } from "@moora/event-log/store";
import type { ObjectStorage, SqlValue } from "../platform.ts";
import { prepareTables } from "./tables.ts";

export type Row = Readonly<Record<string, SqlValue>>;

/** The storage of an object as the database of its log. Only this object accesses it, and its calls are synchronous. */
export class Database implements SqlDatabase {
  /** A failed write changes nothing: each handle may write again. */
  readonly epoch = 0;
  readonly #storage: ObjectStorage;
  #isPrepared = false;
  #isClosed = false;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** `what` is what could not be done, for the error. Throws `LogError`. */
  run<Value>(what: string, operation: () => Value): Value {
    if (this.#isClosed) throw logClosed();
    try {
      this.#prepare();
      return operation();
    } catch (error) {
      if (error instanceof LogError || error instanceof RangeError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new LogError("LogWrite", `The log could not ${what}: ${reason}`, { cause: error });
    }
  }

  /** The storage changes only between two operations. */
  read<Value>(what: string, operation: () => Value): Value {
    return this.run(what, operation);
  }

  /** Writes in one transaction, and resolves when that is durable. */
  async write<Value>(what: string, _epoch: number, operation: () => Value): Promise<Value> {
    const value = this.run(what, () => this.#storage.transactionSync(operation));
    await this.#storage.sync();
    return value;
  }

  all(query: string, ...values: SqlValue[]): readonly Row[] {
    return this.#storage.sql.exec(query, ...values).toArray();
  }

  one(query: string, ...values: SqlValue[]): Row | undefined {
    return this.all(query, ...values)[0];
  }

  do(query: string, ...values: SqlValue[]): void {
    this.#storage.sql.exec(query, ...values);
  }

  close(): void {
    this.#isClosed = true;
  }

  #prepare(): void {
    if (this.#isPrepared) return;
    prepareTables(this.#storage);
    this.#isPrepared = true;
  }
}
