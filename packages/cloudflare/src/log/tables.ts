import { LogError } from "@moora/event-log";
import type { SqlDatabase } from "@moora/event-log/store";
import type { ObjectStorage } from "../platform.ts";

const format = 1;

/**
 * All names begin with `moora_`, so an object can have tables of its own. A row of `moora_sessions` is one generation of its id;
 * AUTOINCREMENT never reuses its number. A text that is too long for one row continues in `moora_parts`.
 */
const tables = `
  CREATE TABLE moora_format (version INTEGER NOT NULL) STRICT;
  INSERT INTO moora_format VALUES (${format});
  CREATE TABLE moora_sessions (
    generation INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    header TEXT NOT NULL,
    head INTEGER NOT NULL,
    digest TEXT NOT NULL,
    lease_owner TEXT,
    lease_until REAL
  ) STRICT;
  CREATE TABLE moora_records (
    generation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    changes_digest TEXT NOT NULL,
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (generation, seq)
  ) STRICT;
  CREATE TABLE moora_snapshots (
    generation INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    version TEXT NOT NULL,
    body TEXT NOT NULL,
    body_digest TEXT NOT NULL,
    seal TEXT NOT NULL
  ) STRICT;
  CREATE TABLE moora_parts (
    generation INTEGER NOT NULL,
    owner TEXT NOT NULL,
    part INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (generation, owner, part)
  ) STRICT;
  CREATE TABLE moora_blobs (
    digest TEXT NOT NULL,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (digest, part)
  ) STRICT;
`;

const tablesOfGeneration = ["moora_sessions", "moora_records", "moora_snapshots", "moora_parts"] as const;

/** Deletes the rows of a generation. */
export function deleteGeneration(database: Pick<SqlDatabase, "do">, generation: number): void {
  for (const table of tablesOfGeneration)
    database.do(`DELETE FROM ${table} WHERE generation = ?`, generation);
}

/** Creates the tables if the object has none. Throws `UnsupportedVersion` for those of a newer release. */
export function prepareTables(storage: ObjectStorage): void {
  const { sql } = storage;
  const [found] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'moora_format'").toArray();
  if (found === undefined) return storage.transactionSync(() => void sql.exec(tables));
  const version = sql.exec("SELECT version FROM moora_format").toArray()[0]?.["version"];
  if (version === format) return;
  throw new LogError(
    "UnsupportedVersion",
    `Unsupported log format ${JSON.stringify(version)}; this release reads ${format}. Update Moora.`,
  );
}
