import { LogError } from "../log-error.ts";
import { logClosed } from "../validation.ts";
import { createStores, format, hasStores, sessionStores, type StoreName } from "./schema.ts";
import { resultOf, runTransaction, type Transaction } from "./transaction.ts";

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

/**
 * Looks at what is there before it asks for this format: a database of another program must not be changed, and its connections
 * would have to close first.
 */
async function openDatabase(name: string): Promise<IDBDatabase> {
  const found = await openIfExists(name);
  if (found?.version === format && isLog(found)) return found;
  found?.close();
  if (found !== undefined && found.version <= format && !hasStores(found, sessionStores)) throw notALog(name);
  const request = indexedDB.open(name, format);
  request.addEventListener("upgradeneeded", ({ oldVersion }) => createStores(request.result, oldVersion));
  const database = await resultOf(request);
  if (isLog(database)) return database;
  database.close();
  throw notALog(name);
}

const isLog = (database: IDBDatabase): boolean => hasStores(database, [...sessionStores, "blobs"]);

/** The database of a name in the format that it has; undefined if there is none. */
async function openIfExists(name: string): Promise<IDBDatabase | undefined> {
  const request = indexedDB.open(name);
  let isNew = false;
  request.addEventListener("upgradeneeded", () => {
    isNew = true;
    request.transaction?.abort();
  });
  try {
    return await resultOf(request);
  } catch (error) {
    if (isNew) return undefined;
    throw error;
  }
}

const notALog = (name: string): LogError =>
  new LogError(
    "InvalidOption",
    `The IndexedDB database ${JSON.stringify(name)} is not a log: another program created it. Use another name.`,
  );
