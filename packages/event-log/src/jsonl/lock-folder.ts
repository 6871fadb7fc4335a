import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { LogError } from "../log-error.ts";
import { loadSqlite } from "../sqlite/load-sqlite.ts";
import { isBusy } from "../sqlite/sqlite-failure.ts";

/**
 * Makes this process the owner of a folder, and returns a function that ends that. The lock is that of an empty SQLite database: the
 * operating system releases it when the process ends, however it does. Throws `LogBusy` if the folder has an owner. A process that
 * may not write to the folder reads it without being its owner.
 */
export function lockFolder(folder: string): () => void {
  if (!mayWrite(folder)) return () => undefined;
  const file = join(folder, ".locks", "owner");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new (loadSqlite().DatabaseSync)(file, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) throw busyError(folder);
    throw error;
  }
  return () => database.close();
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const busyError = (folder: string): LogError =>
  new LogError(
    "LogBusy",
    `${folder} is open in another process, or twice in this one: a JSONL log has one owner. Close it there, or use sqliteLog for several processes.`,
  );
