import {
  chainStart,
  LogError,
  type DisposableLog,
  type LeaseClaim,
  type LogInfo,
  type LogNotice,
  type SessionLog,
} from "@moora/event-log";
import {
  checkInTurns,
  keepStop,
  leaseAfter,
  Listeners,
  logExists,
  optionForms,
  sortById,
  SqlSession,
  validateOptions,
  validHeader,
  validId,
  warn,
  type OptionForms,
  type PrefixCheck,
  type SqlGeneration,
  type SqlParts,
} from "@moora/event-log/store";
import { Database } from "./log/database.ts";
import { LongTexts } from "./log/long-text.ts";
import { objectBlobs, type ObjectBlobs } from "./log/object-blobs.ts";
import { deleteGeneration } from "./log/tables.ts";
import type { ObjectStorage, SqlValue } from "./platform.ts";
import { sqlText } from "./sql-text.ts";

/** Options of {@link durableObjectLog}. */
export interface DurableObjectLogOptions {
  /** Called with notices about skipped data. Default: does nothing. */
  readonly onNotice?: (notice: LogNotice) => void;
}

const forms: OptionForms<DurableObjectLogOptions> = { onNotice: optionForms.function };

/**
 * A log in the storage of a Durable Object with the SQLite backend: that of its session, and of the sub-agents of that. Its tables have
 * names that begin with `moora_`. What writes returns a promise that resolves when that is durable, all other calls return a value.
 *
 * Throws `InvalidOption` if `storage` is not such a storage, or an option is unknown or of the wrong form. The first call creates
 * the tables; it fails with `UnsupportedVersion` for those of a newer release.
 */
export function durableObjectLog(
  storage: ObjectStorage,
  options: DurableObjectLogOptions = {},
): DisposableLog {
  validateOptions("durableObjectLog", options, forms);
  return openObjectLog(storage, options.onNotice ?? warn);
}

/** The same log. `onAppend` runs in the turn of each append: what it writes is stored with the records, or not at all. */
export function openObjectLog(
  storage: ObjectStorage,
  onNotice: (notice: LogNotice) => void,
  onAppend: () => void = () => undefined,
): DurableObjectLog {
  // Callers without types may pass any value; objects without the SQLite backend have a storage whose `sql` throws when it is used.
  if (!hasSql(storage)) {
    throw new LogError(
      "InvalidOption",
      "A session needs a Durable Object whose storage has the SQLite backend. Declare its class under `new_sqlite_classes`.",
    );
  }
  return new DurableObjectLog(storage, { onNotice, onAppend });
}

function hasSql(storage: ObjectStorage): boolean {
  try {
    storage.sql.exec("SELECT 1");
    return true;
  } catch {
    return false;
  }
}

const listenersByStorage = /* @__PURE__ */ new WeakMap<ObjectStorage, Listeners>();

/** The listeners of a storage, which all logs on it share. */
function listenersOf(storage: ObjectStorage): Listeners {
  const listeners = listenersByStorage.get(storage) ?? new Listeners();
  listenersByStorage.set(storage, listeners);
  return listeners;
}

/** The longest body of a record, in UTF-16 code units: an object has 128 MB of memory for all that it does. */
const maxObjectRecordLength = 8 * 1024 * 1024;

/** Reads the records before a snapshot: an object has no more of them than it has read before. */
function chainCheck(log: Pick<SessionLog, "read">, { header }: SqlGeneration): PrefixCheck {
  let verified = chainStart(header);
  return {
    check: async (seq) => void (verified = await checkInTurns(log, verified, seq)),
    columns: () => ({}),
  };
}

/** The log of an object. */
export class DurableObjectLog implements DisposableLog {
  readonly name = "durable-object";
  readonly blobs: ObjectBlobs;
  readonly #database: Database;
  readonly #texts: LongTexts;
  readonly #parts: SqlParts;
  /** Functions that stop the watches of this log. */
  readonly #stops = new Set<() => void>();

  constructor(storage: ObjectStorage, { onNotice, onAppend }: Pick<SqlParts, "onNotice" | "onAppend">) {
    const database = new Database(storage);
    const listeners = listenersOf(storage);
    this.#database = database;
    this.#texts = new LongTexts(storage.sql);
    this.blobs = objectBlobs(database);
    this.#parts = {
      database,
      watch: {
        add: (key, listener, owner) => keepStop(this.#stops, listeners.add(key, listener, owner)),
        notify: (key, append) => listeners.notify(key, append),
      },
      onNotice,
      texts: this.#texts,
      maxRecordLength: maxObjectRecordLength,
      prefixOf: chainCheck,
      onAppend,
      remove: (generation) => deleteGeneration(database, generation),
    };
  }

  async create(id: string, header: string, claim?: LeaseClaim): Promise<SessionLog> {
    const [validatedId, validatedHeader] = [validId(id), validHeader(header)];
    const database = this.#database;
    const { digest } = chainStart(header);
    const { owner = null, until = null } = (claim && leaseAfter(undefined, claim)) ?? {};
    const generation = await database.write("create a session", database.epoch, () => {
      const insert = `INSERT INTO moora_sessions (id, header, head, digest, lease_owner, lease_until)
        VALUES (?, '', 0, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING generation`;
      const row = database.one(insert, validatedId, digest, owner, until);
      if (row === undefined) throw logExists(id);
      const created = Number(row["generation"]);
      const first = this.#texts.write(created, "header", validatedHeader);
      database.do("UPDATE moora_sessions SET header = ? WHERE generation = ?", first, created);
      return created;
    });
    return this.#handle({ generation, id, header });
  }

  open(id: string): SessionLog | undefined {
    validId(id);
    const database = this.#database;
    return database.run("open a session", () => {
      const row = database.one("SELECT generation, header FROM moora_sessions WHERE id = ?", id);
      if (row === undefined) return undefined;
      const generation = Number(row["generation"]);
      return this.#handle({ generation, id, header: this.#header(generation, row["header"]) });
    });
  }

  /** The last sequence number of a session; undefined if there is none of this id. */
  headOf(id: string): number | undefined {
    const database = this.#database;
    return database.run("read the head", () => {
      const row = database.one("SELECT head FROM moora_sessions WHERE id = ?", id);
      return row === undefined ? undefined : Number(row["head"]);
    });
  }

  list(): readonly LogInfo[] {
    const database = this.#database;
    return database.run("list the sessions", () => {
      const rows = database.all("SELECT generation, id, header, head FROM moora_sessions");
      return sortById(
        rows.map(({ generation, id, header, head }) => ({
          id: sqlText(id),
          head: Number(head),
          header: this.#header(Number(generation), header),
        })),
      );
    });
  }

  async remove(id: string): Promise<boolean> {
    validId(id);
    const database = this.#database;
    const generation = await database.write("remove a session", database.epoch, () => {
      const row = database.one("SELECT generation FROM moora_sessions WHERE id = ?", id);
      if (row === undefined) return undefined;
      const removed = Number(row["generation"]);
      deleteGeneration(database, removed);
      return removed;
    });
    if (generation === undefined) return false;
    this.#parts.watch.notify(String(generation));
    return true;
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#database.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #header(generation: number, first: SqlValue | undefined): string {
    return this.#texts.read(generation, "header", sqlText(first));
  }

  #handle(generation: SqlGeneration): SessionLog {
    return new SqlSession(generation, this.#parts);
  }
}
