import { LogError, type LogErrorCode } from "../log-error.ts";

const sqliteBusy = 5;

/**
 * Result codes that mean damage: SQLITE_CORRUPT and SQLITE_NOTADB, and also SQLITE_ERROR and SQLITE_CONSTRAINT, which the
 * statements of a log can cause only when its tables were changed, and SQLITE_TOOBIG: what a log stores is shorter.
 */
const codes: Readonly<Record<number, LogErrorCode>> = {
  1: "LogCorrupt",
  11: "LogCorrupt",
  18: "LogCorrupt",
  19: "LogCorrupt",
  26: "LogCorrupt",
};

/** The primary result code of an error of SQLite; undefined for other errors. */
const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) % 256 : undefined;

export const isBusy = (error: unknown): boolean => resultCode(error) === sqliteBusy;

/** SQLITE_READONLY and SQLITE_CANTOPEN: the permissions of the file or its folder do not allow this. */
export const isRefused = (error: unknown): boolean => [8, 14].includes(resultCode(error) ?? 0);

/** SQLITE_READONLY_RECOVERY and SQLITE_READONLY_ROLLBACK: a process died while it wrote, and only a writer can repair that. */
export const needsWriter = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && [264, 776].includes(Number(error.errcode));

/** Converts an error of SQLite to a `LogError`: `LogCorrupt` for damage, else `LogWrite`. Returns other errors unchanged. */
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
