import type { DatabaseSync } from "node:sqlite";
import { LogError } from "../log-error.ts";

const format = 1;

/**
 * Every name begins with `moora_`, so a log may share the file of an application. A session's row is one life of its id:
 * AUTOINCREMENT never gives a number twice, so what belongs to a removed life can find no row again. Its head is stored
 * there too, so that records missing at the end are noticed. `prefix_*` is a checksum over the records up to a position.
 */
const tables = `
  CREATE TABLE moora_format (version INTEGER NOT NULL) STRICT;
  INSERT INTO moora_format VALUES (${format});
  CREATE TABLE moora_sessions (
    life INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    header TEXT NOT NULL,
    head INTEGER NOT NULL,
    digest TEXT NOT NULL,
    lease_owner TEXT,
    lease_until REAL
  ) STRICT;
  CREATE TABLE moora_records (
    life INTEGER NOT NULL REFERENCES moora_sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    changed TEXT NOT NULL,
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (life, seq)
  ) STRICT;
  CREATE TABLE moora_snapshots (
    life INTEGER PRIMARY KEY REFERENCES moora_sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    version TEXT NOT NULL,
    body TEXT NOT NULL,
    body_digest TEXT NOT NULL,
    seal TEXT NOT NULL,
    prefix_seq INTEGER NOT NULL,
    prefix_digest TEXT NOT NULL,
    prefix_sum TEXT NOT NULL
  ) STRICT;
`;

/** Whether the tables exist, in a format that this Moora knows; a newer one is `UnsupportedVersion`. */
export function hasTables(database: DatabaseSync): boolean {
  const known = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'moora_format'").get();
  if (known === undefined) return false;
  const version = database.prepare("SELECT version FROM moora_format").get()?.["version"];
  if (version === format) return true;
  throw new LogError(
    "UnsupportedVersion",
    `Unsupported log format ${String(version)}; this Moora reads ${format}.`,
  );
}

/** Makes the tables unless another process has made them meanwhile. */
export function makeTables(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (!hasTables(database)) database.exec(tables);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
