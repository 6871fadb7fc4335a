import { LogError, type LogErrorCode } from "../log-error.ts";

const sqliteBusy = 5;

/**
 * Damage: SQLITE_CORRUPT and SQLITE_NOTADB, and SQLITE_ERROR and SQLITE_CONSTRAINT too, since our few statements, which
 * check before they write, meet them only when the tables are not what they were.
 */
const codes: Readonly<Record<number, LogErrorCode>> = {
  1: "LogCorrupt",
  11: "LogCorrupt",
  19: "LogCorrupt",
  26: "LogCorrupt",
};

/** The result code of an error of SQLite, without what its extended code adds; undefined for other errors. */
const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) % 256 : undefined;

export const isBusy = (error: unknown): boolean => resultCode(error) === sqliteBusy;

/** SQLITE_READONLY and SQLITE_CANTOPEN: the file, or its folder, may not be written or opened in this way. */
export const isRefused = (error: unknown): boolean => [8, 14].includes(resultCode(error) ?? 0);

/** What SQLite reports as an error of the log: damage is `LogCorrupt`, everything else kept it from writing or reading. */
export function sqliteFailure(what: string, file: string, error: unknown): unknown {
  const result = resultCode(error);
  const isClosed = error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
  if (result === undefined && !isClosed) return error;
  return new LogError(
    codes[result ?? 0] ?? "LogWrite",
    `The log could not ${what}: ${error instanceof Error ? error.message : ""} (${file})`,
    { cause: error },
  );
}
