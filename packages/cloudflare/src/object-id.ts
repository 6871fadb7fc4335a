import type { ObjectStorage } from "./platform.ts";
import { sqlText } from "./sql-text.ts";

/** The id of the session of an object, which it needs when its alarm fires. The log has no place for it. */
export class ObjectId {
  readonly #storage: ObjectStorage;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** Undefined for an object that was not used yet. */
  read(): string | undefined {
    const { sql } = this.#storage;
    const [table] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'moora_object'").toArray();
    // An object that is only asked for its session stores nothing.
    if (table === undefined) return undefined;
    const [row] = sql.exec("SELECT id FROM moora_object").toArray();
    return row === undefined ? undefined : sqlText(row["id"]);
  }

  /** Stores the id of the first use. */
  write(id: string): void {
    this.#storage.sql.exec("CREATE TABLE IF NOT EXISTS moora_object (id TEXT NOT NULL) STRICT");
    this.#storage.sql.exec("INSERT INTO moora_object VALUES (?)", id);
  }

  clear(): void {
    this.#storage.sql.exec("DELETE FROM moora_object");
  }
}
