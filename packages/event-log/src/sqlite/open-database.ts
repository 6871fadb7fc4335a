import { accessSync, closeSync, constants, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { errorCode } from "../error-code.ts";
import { LogError } from "../log-error.ts";
import { hasTables, makeTables } from "./schema.ts";
import { isRefused } from "./sqlite-failure.ts";

/** Opens a database; tests give another to see what becomes of its failures. */
export type OpenDatabase = (
  file: string,
  options: {
    readonly readOnly?: boolean;
    readonly timeout: number;
    readonly enableForeignKeyConstraints: boolean;
  },
) => DatabaseSync;

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** Whether this process may only read it. */
  readonly isReadOnly: boolean;
}

/** A database that is nowhere but in memory. */
export const inMemory = ":memory:";

const options = { timeout: 0, enableForeignKeyConstraints: true } as const;

/** Opens the database of a log, and makes its tables; only for reading where this process may not write. */
export function openLogDatabase(
  file: string,
  durability: "full" | "relaxed",
  open: OpenDatabase,
): OpenedDatabase {
  if (file !== inMemory && existsSync(file)) {
    checkNames(file);
    if (!mayWrite(file)) return { database: openReadOnly(file, open), isReadOnly: true };
    // A file of a newer format is to stay as it is: setting up a connection that writes could change it.
    closed(open(file, { ...options, readOnly: true }), hasTables);
  } else if (file !== inMemory && !file.startsWith("file:")) {
    createFile(file);
  }
  return { database: openForWriting(file, durability, open), isReadOnly: false };
}

function openForWriting(file: string, durability: "full" | "relaxed", open: OpenDatabase): DatabaseSync {
  return opened(open(file, options), (database) => {
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
    if (!hasTables(database)) makeTables(database);
  });
}

/**
 * Opens a database that may not be changed. In a folder that may not be changed either, SQLite cannot put the files there
 * that it shares with writers; then there are no writers, and a database without a write-ahead log is read as it is.
 */
function openReadOnly(file: string, open: OpenDatabase): DatabaseSync {
  const readOnly = { ...options, readOnly: true };
  const check = (database: DatabaseSync): void => {
    if (!hasTables(database))
      throw new LogError("LogWrite", `${file} has no log, and this process may not write one.`);
  };
  try {
    return opened(open(file, readOnly), check);
  } catch (error) {
    const hasWriteAheadLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (!isRefused(error) || hasWriteAheadLog) throw error;
    return opened(open(`${pathToFileURL(file).href}?immutable=1`, readOnly), check);
  }
}

/** Refuses a file that has a second name: a log that is opened by it would have another write-ahead log, and lose records. */
function checkNames(file: string): void {
  const { nlink } = statSync(file);
  if (nlink === 1 || statSync(file).isDirectory()) return;
  throw new LogError(
    "LogWrite",
    `${file} cannot be opened: there are ${nlink} hard links to it. Remove all but one of its names.`,
  );
}

/** Made before SQLite opens it, so that it is for its owner only; SQLite gives the files beside it the same permissions. */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    // Another process may have been faster, and SQLite itself says best why it cannot open a file.
    if (typeof errorCode(error) !== "string") throw error;
  }
}

function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    accessSync(dirname(file), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A database that is set up, or closed again. */
function opened(database: DatabaseSync, setUp: (database: DatabaseSync) => void): DatabaseSync {
  try {
    setUp(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function closed(database: DatabaseSync, use: (database: DatabaseSync) => unknown): void {
  opened(database, (open) => void use(open)).close();
}
