import { HeadWatch } from "./head-watch.ts";
import { indexedDbBlobs } from "./indexeddb/blobs.ts";
import { Channel } from "./indexeddb/channel.ts";
import { Connection } from "./indexeddb/connection.ts";
import { type SessionRow, sessionStores } from "./indexeddb/schema.ts";
import { IndexedDbSession, type LogParts } from "./indexeddb/session.ts";
import { addSession, allSessions, deleteSession, dueSessions, findSession } from "./indexeddb/sessions.ts";
import { leaseAfter } from "./lease.ts";
import { LogError } from "./log-error.ts";
import type {
  BlobStore,
  DisposableLog,
  DueQuery,
  DueSession,
  LeaseClaim,
  LogInfo,
  LogNotice,
  SessionLog,
} from "./port.ts";
import { sortById } from "./rows.ts";
import { optionForms, validateOptions, type OptionForms } from "./validate-options.ts";
import { validateLocation, validHeader, validId } from "./validation.ts";
import { warn } from "./warn.ts";

/** Options of {@link indexedDbLog}. */
export interface IndexedDbOptions {
  /** Default `full`: the browser is asked to write an append to the disk before it returns. `relaxed`: a power cut may lose the last appends. */
  readonly durability?: "full" | "relaxed";
  /** Called with notices about skipped data. Default: does nothing in browsers. */
  readonly onNotice?: (notice: LogNotice) => void;
}

const indexedDbForms: OptionForms<IndexedDbOptions> = {
  durability: optionForms.durability,
  onNotice: optionForms.function,
};

/**
 * A log in an IndexedDB database of a browser, which the tabs and workers of one origin share. All calls return promises.
 * The first call opens the database and creates it if it does not exist.
 *
 * Throws `UnsupportedRuntime` where there is no IndexedDB, and `InvalidOption` if `name` is not a non-empty string or an option
 * is unknown or of the wrong form.
 */
export function indexedDbLog(name: string, options: IndexedDbOptions = {}): DisposableLog {
  validateLocation("indexedDbLog", "the name of a database", name);
  validateOptions("indexedDbLog", options, indexedDbForms);
  if (typeof indexedDB === "undefined" || typeof BroadcastChannel === "undefined") {
    throw new LogError(
      "UnsupportedRuntime",
      "This runtime has no IndexedDB. Use indexedDbLog in a browser, and jsonlLog or sqliteLog on Node.js.",
    );
  }
  const { durability = "full", onNotice = warn } = options;
  return new IndexedDbLog(new Connection(name, { durability }), onNotice);
}

class IndexedDbLog implements DisposableLog {
  readonly name = "indexeddb";
  readonly blobs: BlobStore;
  readonly #parts: LogParts;

  constructor(connection: Connection, onNotice: (notice: LogNotice) => void) {
    this.blobs = indexedDbBlobs(connection);
    const channel = new Channel(connection.name);
    const watch = new HeadWatch({
      headsOf: (generations) => headsOf(connection, generations),
      source: (onChange) => channel.listen((generation) => onChange([generation])),
    });
    this.#parts = { connection, watch, channel, onNotice };
  }

  async create(id: string, header: string, claim?: LeaseClaim): Promise<SessionLog> {
    const session = {
      id: validId(id),
      header: validHeader(header),
      lease: (claim && leaseAfter(undefined, claim)) ?? null,
    };
    return this.#handle(
      await this.#parts.connection.run("create a session", "write", ["sessions", "heads"], (transaction) =>
        addSession(transaction, session),
      ),
    );
  }

  async open(id: string): Promise<SessionLog | undefined> {
    validId(id);
    const row = await this.#parts.connection.run("open a session", "read", ["sessions"], (transaction) =>
      findSession(transaction, id),
    );
    return row === undefined ? undefined : this.#handle(row);
  }

  async list(): Promise<readonly LogInfo[]> {
    const { connection } = this.#parts;
    return sortById(await connection.run("list the sessions", "read", ["sessions", "heads"], allSessions));
  }

  async due(query: DueQuery): Promise<readonly DueSession[]> {
    const stores = ["sessions", "heads"] as const;
    return await this.#parts.connection.run("list the due sessions", "read", stores, (transaction) =>
      dueSessions(transaction, query),
    );
  }

  async remove(id: string): Promise<boolean> {
    validId(id);
    const { connection, watch, channel } = this.#parts;
    const generation = await connection.run("remove a session", "write", sessionStores, (transaction) =>
      deleteSession(transaction, id),
    );
    if (generation === undefined) return false;
    watch.notify(String(generation));
    channel.post(generation);
    return true;
  }

  close(): void {
    this.#parts.watch.close();
    this.#parts.channel.close();
    this.#parts.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #handle(row: SessionRow): SessionLog {
    return new IndexedDbSession(row, this.#parts);
  }
}

function headsOf(
  connection: Connection,
  generations: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return connection.run("read the heads", "read", ["heads"], async (transaction) => {
    const heads = new Map<string, string>();
    for (const generation of generations) {
      const row = await transaction.get("heads", Number(generation));
      if (row !== undefined) heads.set(generation, String(row.seq));
    }
    return heads;
  });
}
