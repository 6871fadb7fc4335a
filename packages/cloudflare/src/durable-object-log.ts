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
  leaseAfter,
  Listeners,
  logExists,
  optionForms,
  sortById,
  validateOptions,
  validHeader,
  validId,
  warn,
  type OptionForms,
} from "@moora/event-log/store";
import { Database } from "./log/database.ts";
import { objectBlobs, type ObjectBlobs } from "./log/object-blobs.ts";
import { type ObjectGeneration, type ObjectLogParts, ObjectSessionLog } from "./log/object-session-log.ts";
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
 * names that begin with `moora_`. `append` returns a promise that resolves when the records are durable, all other calls return a value.
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
  return new DurableObjectLog({
    database: new Database(storage),
    listeners: listenersOf(storage),
    stops: new Set(),
    onNotice,
    onAppend,
  });
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

/** The log of an object. */
export class DurableObjectLog implements DisposableLog {
  readonly name = "durable-object";
  readonly blobs: ObjectBlobs;
  readonly #parts: ObjectLogParts;

  constructor(parts: ObjectLogParts) {
    this.#parts = parts;
    this.blobs = objectBlobs(parts.database);
  }

  async create(id: string, header: string, claim?: LeaseClaim): Promise<SessionLog> {
    const [validatedId, validatedHeader] = [validId(id), validHeader(header)];
    const { database } = this.#parts;
    const { digest } = chainStart(header);
    const { owner = null, until = null } = (claim && leaseAfter(undefined, claim)) ?? {};
    const generation = await database.writeDurably("create a session", () => {
      const insert = `INSERT INTO moora_sessions (id, header, head, digest, lease_owner, lease_until)
        VALUES (?, '', 0, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING generation`;
      const row = database.one(insert, validatedId, digest, owner, until);
      if (row === undefined) throw logExists(id);
      const created = Number(row["generation"]);
      const first = database.texts.write(created, "header", validatedHeader);
      database.do("UPDATE moora_sessions SET header = ? WHERE generation = ?", first, created);
      return created;
    });
    return this.#handle({ generation, id, header });
  }

  open(id: string): SessionLog | undefined {
    validId(id);
    const { database } = this.#parts;
    return database.read("open a session", () => {
      const row = database.one("SELECT generation, header FROM moora_sessions WHERE id = ?", id);
      if (row === undefined) return undefined;
      const generation = Number(row["generation"]);
      return this.#handle({ generation, id, header: this.#header(generation, row["header"]) });
    });
  }

  /** The last sequence number of a session; undefined if there is none of this id. */
  headOf(id: string): number | undefined {
    const { database } = this.#parts;
    return database.read("read the head", () => {
      const row = database.one("SELECT head FROM moora_sessions WHERE id = ?", id);
      return row === undefined ? undefined : Number(row["head"]);
    });
  }

  list(): readonly LogInfo[] {
    const { database } = this.#parts;
    return database.read("list the sessions", () => {
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
    const { database, listeners } = this.#parts;
    const generation = await database.writeDurably("remove a session", () => {
      const row = database.one("SELECT generation FROM moora_sessions WHERE id = ?", id);
      if (row === undefined) return undefined;
      const removed = Number(row["generation"]);
      deleteGeneration(database, removed);
      return removed;
    });
    if (generation === undefined) return false;
    listeners.notify(String(generation));
    return true;
  }

  close(): void {
    for (const stop of this.#parts.stops) stop();
    this.#parts.database.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #header(generation: number, first: SqlValue | undefined): string {
    return this.#parts.database.texts.read(generation, "header", sqlText(first));
  }

  #handle(generation: ObjectGeneration): SessionLog {
    return new ObjectSessionLog(generation, this.#parts);
  }
}
