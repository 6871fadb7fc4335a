import { LogError } from "@moora/event-log";
import { logClosed } from "@moora/event-log/store";
import type { ObjectStorage, SqlValue } from "../platform.ts";
import { LongTexts } from "./long-text.ts";
import { prepareTables } from "./tables.ts";

export type Row = Readonly<Record<string, SqlValue>>;

/** The storage of an object as the database of its log. Only this object accesses it, and its calls are synchronous. */
export class Database {
  readonly texts: LongTexts;
  readonly #storage: ObjectStorage;
  #isPrepared = false;
  #isClosed = false;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
    this.texts = new LongTexts(storage.sql);
  }

  /** Reads; `what` is what could not be done, for the error. Throws `LogError`. */
  read<Value>(what: string, operation: () => Value): Value {
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

  /** Writes in one transaction. */
  write<Value>(what: string, operation: () => Value): Value {
    return this.read(what, () => this.#storage.transactionSync(operation));
  }

  /**
   * Writes in one transaction, and resolves when that is durable. `alongside` runs in the same turn, so that the platform stores
   * what it writes together with the transaction.
   */
  async writeDurably<Value>(what: string, operation: () => Value, alongside?: () => void): Promise<Value> {
    const value = this.write(what, operation);
    alongside?.();
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
