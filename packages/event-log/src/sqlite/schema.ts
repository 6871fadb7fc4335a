import type { DatabaseSync } from "node:sqlite";
import { LogError } from "../log-error.ts";

const format = 1;

/**
 * All names begin with `moora_`, so a log may share the file of an application. The row of a session is one generation of its
 * id: AUTOINCREMENT never reuses a number, so rows of a removed generation cannot refer to a new one. The row contains the head
 * too, so that missing records at the end are found. `prefix_*` is a checksum over the records up to a position.
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
    generation INTEGER NOT NULL REFERENCES moora_sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    changes_digest TEXT NOT NULL,
    digest TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (generation, seq)
  ) STRICT;
  CREATE TABLE moora_snapshots (
    generation INTEGER PRIMARY KEY REFERENCES moora_sessions ON DELETE CASCADE,
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

/** An index of the work that waits. Logs of earlier releases get it when they are opened; all their sessions are looked at once. */
const dueTable = `
  CREATE TABLE moora_due (
    generation INTEGER PRIMARY KEY REFERENCES moora_sessions ON DELETE CASCADE,
    due REAL
  ) STRICT;
  INSERT INTO moora_due SELECT generation, 0 FROM moora_sessions WHERE head > 0;
  CREATE INDEX moora_due_by_time ON moora_due (due) WHERE due IS NOT NULL;
`;

/**
 * The columns by which sessions are listed. Logs of earlier releases get them when they are opened. A session without a key of a user
 * was created by an earlier release; the next listing computes its keys.
 */
const keyColumns = `
  ALTER TABLE moora_sessions ADD COLUMN user_key TEXT;
  ALTER TABLE moora_sessions ADD COLUMN caller_key TEXT;
  CREATE INDEX moora_sessions_by_caller ON moora_sessions (caller_key) WHERE caller_key IS NOT NULL;
  CREATE INDEX moora_sessions_by_user ON moora_sessions (user_key, id);
`;

/** The bytes beside the sessions. Logs of earlier releases get the table when they are opened. */
const blobTable =
  "CREATE TABLE IF NOT EXISTS moora_blobs (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";

const has = (database: DatabaseSync, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;

/** Whether the tables and indexes exist that logs of earlier releases do not have. */
export const hasLaterTables = (database: DatabaseSync): boolean =>
  ["moora_due", "moora_blobs", "moora_sessions_by_user"].every((name) => has(database, name));

/** Whether the tables exist. Throws `UnsupportedVersion` for tables of another format. */
export function hasTables(database: DatabaseSync): boolean {
  if (!has(database, "moora_format")) return false;
  const version = database.prepare("SELECT version FROM moora_format").get()?.["version"];
  if (version === format) return true;
  throw new LogError(
    "UnsupportedVersion",
    `Unsupported log format ${String(version)}; this release reads ${format}. Update Moora.`,
  );
}

/** Creates the tables, unless another process has created them meanwhile. */
export function createTables(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (!hasTables(database)) database.exec(tables);
    if (!has(database, "moora_due")) database.exec(dueTable);
    if (!has(database, "moora_blobs")) database.exec(blobTable);
    if (!has(database, "moora_sessions_by_user")) database.exec(keyColumns);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
