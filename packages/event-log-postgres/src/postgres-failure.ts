import { LogError, type LogErrorCode } from "@moora/event-log";

/**
 * The kind of a failure: `lost`, the connection broke, and it is unknown whether a pending statement took effect; `busy`, the
 * server rejected the statement temporarily and did nothing; `refused`, everything else, which would fail again.
 */
export type FailureKind = "lost" | "busy" | "refused";

const lostStates = /^(08...|57P0[1235])$/;
const busyStates = /^(55P03|53300|40001|40P01|57014)$/;
const corruptStates = /^XX00[12]$/;

/** The SQLSTATE of an error that the server sent; undefined for errors of the connection. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && "severity" in Object(error)
    ? code
    : undefined;
}

/** Whether the server rejected the name of a statement: it is not known on this connection, or is in use already. */
export const isUnknownName = (error: unknown): boolean => /^(26000|42P05)$/.test(sqlState(error) ?? "");

/** The kind of an error of the server, of the connection or of this package. */
export function failureKindOf(error: unknown): FailureKind {
  const state = sqlState(error);
  if (state !== undefined) {
    if (lostStates.test(state)) return "lost";
    return busyStates.test(state) ? "busy" : "refused";
  }
  // Other errors come from the socket or from `pg`, which throws plain errors, or are bugs.
  const isPlain = error instanceof Error && !(error instanceof LogError) && error.name === "Error";
  return isPlain || error instanceof AggregateError ? "lost" : "refused";
}

/** Converts an error of the server or the connection to a `LogError`. Returns other errors unchanged. */
export function postgresFailure(what: string, error: unknown): unknown {
  const state = sqlState(error);
  const kind = failureKindOf(error);
  if (state === undefined && kind === "refused") return error;
  const message = error instanceof Error ? error.message : String(error);
  return new LogError(codeOf(state, kind), `The log could not ${what}: ${message}`, { cause: error });
}

function codeOf(state: string | undefined, kind: FailureKind): LogErrorCode {
  if (kind === "busy") return "LogBusy";
  return state !== undefined && corruptStates.test(state) ? "LogCorrupt" : "LogWrite";
}
