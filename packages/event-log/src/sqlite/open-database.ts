import { accessSync, closeSync, constants, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { errorCode } from "../error-code.ts";
import { LogError } from "../log-error.ts";
import { createTables, hasLaterTables, hasTables } from "./schema.ts";
import { isRefused, needsWriter } from "./sqlite-failure.ts";

/** Opens a database. Tests pass implementations that fail. */
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
  /** Whether this process has no permission to write it. */
  readonly isReadOnly: boolean;
}

/** The file name of a database in memory. */
export const inMemory = ":memory:";

const options = { timeout: 0, enableForeignKeyConstraints: true } as const;

/** Opens the database of a log and creates its tables; opens it for reading if this process may not write it. */
export function openLogDatabase(
  file: string,
  durability: "full" | "relaxed",
  open: OpenDatabase,
): OpenedDatabase {
  if (file !== inMemory && existsSync(file)) {
    checkNames(file);
    if (!mayWrite(file)) return { database: openReadOnly(file, open), isReadOnly: true };
    // Setting up a connection for writing could change a file of a newer format, so the format is checked first.
    checkFormat(file, open);
  } else if (file !== inMemory && !file.startsWith("file:")) createFile(file);

  return { database: openForWriting(file, durability, open), isReadOnly: false };
}

/** Throws for a file of another format. A file that a dying process left in the middle of a write is rolled back first. */
function checkFormat(file: string, open: OpenDatabase): void {
  try {
    useAndClose(open(file, { ...options, readOnly: true }), hasTables);
  } catch (error) {
    if (!needsWriter(error)) throw error;
    useAndClose(open(file, options), hasTables);
  }
}

function openForWriting(file: string, durability: "full" | "relaxed", open: OpenDatabase): DatabaseSync {
  return setUpOrClose(open(file, options), (database) => {
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
    if (!hasTables(database) || !hasLaterTables(database)) createTables(database);
  });
}

/**
 * Opens a database without write permission. In a folder without write permission, SQLite cannot create the files that it
 * shares with writers; a database without a write-ahead log is then opened as immutable, since it has no writers.
 */
function openReadOnly(file: string, open: OpenDatabase): DatabaseSync {
  const readOnly = { ...options, readOnly: true };
  const check = (database: DatabaseSync): void => {
    if (!hasTables(database)) {
      throw new LogError(
        "LogWrite",
        `${file} contains no log, and this process has no permission to create one.`,
      );
    }
  };
  try {
    return setUpOrClose(open(file, readOnly), check);
  } catch (error) {
    const hasWriteAheadLog = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (!isRefused(error) || hasWriteAheadLog) throw error;
    return setUpOrClose(open(`${pathToFileURL(file).href}?immutable=1`, readOnly), check);
  }
}

/** Refuses a file with several hard links: each name would have its own write-ahead log, and records would be lost. */
function checkNames(file: string): void {
  const { nlink } = statSync(file);
  if (nlink === 1 || statSync(file).isDirectory()) return;
  throw new LogError("LogWrite", `${file} cannot be opened: it has ${nlink} hard links. Remove all but one.`);
}

/** Creates the file with mode 0600 before SQLite opens it. SQLite gives its other files the same permissions. */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    // The file may exist by now. For other errors, the error of SQLite is the clearer one.
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

/** Sets up a database and returns it; closes it if the set-up fails. */
function setUpOrClose(database: DatabaseSync, setUp: (database: DatabaseSync) => void): DatabaseSync {
  try {
    setUp(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function useAndClose(database: DatabaseSync, use: (database: DatabaseSync) => unknown): void {
  setUpOrClose(database, (open) => void use(open)).close();
}
