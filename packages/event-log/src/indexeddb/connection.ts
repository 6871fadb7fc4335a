import { LogError } from "../log-error.ts";
import { logClosed } from "../validation.ts";
import { createStores, format, type StoreName, storeNames } from "./schema.ts";
import { runTransaction, type Transaction } from "./transaction.ts";

export interface ConnectionOptions {
  readonly durability: "full" | "relaxed";
}

/** How an operation accesses the stores. `write` is stored when it resolves; `note` may be lost by a power cut. */
export type Mode = "read" | "write" | "note";

/** The connection of a log to its database: opened at the first operation, and again after the browser has closed it. */
export class Connection {
  readonly name: string;
  readonly #options: ConnectionOptions;
  #opening: Promise<IDBDatabase> | undefined;
  #isClosed = false;

  constructor(name: string, options: ConnectionOptions) {
    this.name = name;
    this.#options = options;
  }

  /**
   * Runs an operation in one transaction; operations that write to the same stores run in the order of the calls. `what` is what
   * could not be done, for the error. Rejects with `LogError`.
   */
  async run<Value>(
    what: string,
    mode: Mode,
    stores: readonly StoreName[],
    operation: (transaction: Transaction) => Promise<Value>,
  ): Promise<Value> {
    try {
      return await runTransaction(await this.#begin(mode, stores), operation);
    } catch (error) {
      throw this.#toLogError(what, error);
    }
  }

  /** Ends after the running transactions. */
  close(): void {
    this.#isClosed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    void opening?.then((database) => database.close()).catch(() => undefined);
  }

  async #begin(mode: Mode, stores: readonly StoreName[]): Promise<IDBTransaction> {
    const begin = async (): Promise<IDBTransaction> => {
      const database = await this.#database();
      const isStrict = mode === "write" && this.#options.durability === "full";
      return database.transaction(stores, mode === "read" ? "readonly" : "readwrite", {
        durability: isStrict ? "strict" : "relaxed",
      });
    };
    try {
      return await begin();
    } catch (error) {
      if (!isNamed(error, "InvalidStateError")) throw error;
      // The browser closes connections, for example when the user deletes the data of a site.
      this.#opening = undefined;
      return await begin();
    }
  }

  #database(): Promise<IDBDatabase> {
    if (this.#isClosed) throw logClosed();
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<IDBDatabase> {
    try {
      const database = await openDatabase(this.name);
      const forget = (): void => {
        this.#opening = undefined;
      };
      database.addEventListener("close", forget);
      // Another page deletes the database, or a newer release changes its stores: both wait for this connection to close.
      database.addEventListener("versionchange", () => {
        database.close();
        forget();
      });
      return database;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #toLogError(what: string, error: unknown): unknown {
    if (error instanceof LogError || !(error instanceof Error)) return error;
    const database = `the IndexedDB database ${JSON.stringify(this.name)}`;
    if (isNamed(error, "VersionError")) {
      return new LogError(
        "UnsupportedVersion",
        `Unsupported log format in ${database}; this release reads ${format}. Update Moora.`,
        { cause: error },
      );
    }
    if (!(error instanceof DOMException)) return error;
    return new LogError("LogWrite", `The log could not ${what}: ${error.message} (${database})`, {
      cause: error,
    });
  }
}

const isNamed = (error: unknown, name: string): boolean =>
  error instanceof DOMException && error.name === name;

async function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, format);
  request.addEventListener("upgradeneeded", () => createStores(request.result));
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () =>
      reject(request.error ?? new Error("The database cannot be opened.")),
    );
  });
  if (storeNames.every((store) => database.objectStoreNames.contains(store))) return database;
  database.close();
  throw new LogError(
    "InvalidOption",
    `The IndexedDB database ${JSON.stringify(name)} is not a log: another program created it. Use another name.`,
  );
}
