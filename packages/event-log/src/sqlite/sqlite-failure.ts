import { LogError, type LogErrorCode } from "../log-error.ts";
import { resultCode } from "./busy.ts";

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

/** What SQLite says as an error of the log: damage is `LogCorrupt`, everything else kept it from writing or reading. */
export function sqliteFailure(what: string, error: unknown): unknown {
  const result = resultCode(error);
  const isClosed = error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
  if (result === undefined && !isClosed) return error;
  return new LogError(
    codes[result ?? 0] ?? "LogWrite",
    `${what} failed: ${error instanceof Error ? error.message : ""}`,
    { cause: error },
  );
}
