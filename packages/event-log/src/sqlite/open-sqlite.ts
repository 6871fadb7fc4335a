import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { LogError } from "../log-error.ts";

/**
 * Opens a database with Node's own SQLite, which is loaded here and not by an import: packages that only might use it can
 * import this one without its warning, and on a Node without it. Throws `LogError` there.
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
