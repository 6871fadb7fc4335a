import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { LogError } from "../log-error.ts";

/**
 * Opens a database with Node's own SQLite. It is loaded by the first call and not by an import, so that importing a log
 * prints no warning and works on a Node without SQLite. Throws `LogError` on such a Node.
 */
export function openSqlite(file: string, options: DatabaseSyncOptions): DatabaseSync {
  const sqlite = process.getBuiltinModule("node:sqlite");
  if (sqlite === undefined)
    throw new LogError(
      "LogWrite",
      `Node ${process.versions.node} has no SQLite, which logs on disk need. Use Node 22.13 or newer.`,
    );
  return new sqlite.DatabaseSync(file, options);
}
