import type { StoreName, Stores } from "./schema.ts";

/** The result of a request. A request that fails aborts its transaction. */
export const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("The request failed.")));
  });

/** One transaction, with the rows of each store. It commits when no request is left; nothing but its requests may be awaited in it. */
export class Transaction {
  readonly #transaction: IDBTransaction;

  constructor(transaction: IDBTransaction) {
    this.#transaction = transaction;
  }

  store(name: StoreName): IDBObjectStore {
    return this.#transaction.objectStore(name);
  }

  /** The row with this key; undefined if there is none. */
  async get<Name extends StoreName>(name: Name, key: IDBValidKey): Promise<Stores[Name] | undefined> {
    const row: IDBRequest<Stores[Name] | undefined> = this.store(name).get(key);
    return await resultOf(row);
  }

  /** The rows of a range of keys, in the order of their keys; `count` limits them. */
  async getAll<Name extends StoreName>(
    name: Name,
    range?: IDBKeyRange,
    count?: number,
  ): Promise<readonly Stores[Name][]> {
    const rows: IDBRequest<Stores[Name][]> = this.store(name).getAll(range, count);
    return await resultOf(rows);
  }

  /** Adds a row, or replaces the one with its key. Not awaited: a failure aborts the transaction. */
  put<Name extends StoreName>(name: Name, row: Stores[Name]): void {
    this.store(name).put(row);
  }
}

/**
 * Runs work in a transaction and resolves with its value when the transaction is stored. If the work throws, nothing is stored.
 */
export async function runTransaction<Value>(
  transaction: IDBTransaction,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> {
  const end = endOf(transaction);
  try {
    const value = await work(new Transaction(transaction));
    await end;
    return value;
  } catch (error) {
    abort(transaction);
    await end.catch(() => undefined);
    // Requests of an aborted transaction fail with the abort; the transaction has the reason.
    throw error instanceof DOMException ? (transaction.error ?? error) : error;
  }
}

const endOf = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () =>
      reject(transaction.error ?? new DOMException("The transaction was aborted.", "AbortError")),
    );
  });

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It has ended already.
  }
}
