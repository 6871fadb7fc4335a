import { LogError, type LogErrorCode } from "@moora/event-log";

/**
 * What went wrong, as far as it matters here: `lost`, the connection broke, and nobody knows whether a statement that was
 * under way took effect; `busy`, the server refused for the moment and did nothing; anything else it will refuse again.
 */
export type Trouble = "lost" | "busy" | "refused";

const lostStates = /^(08...|57P0[1235])$/;
const busyStates = /^(55P03|53300|40001|40P01|57014)$/;
const corruptStates = /^XX00[12]$/;

/** The SQLSTATE of an error that the server sent; undefined for what went wrong on the way to it. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && "severity" in Object(error)
    ? code
    : undefined;
}

export function troubleOf(error: unknown): Trouble {
  const state = sqlState(error);
  if (state !== undefined) {
    if (lostStates.test(state)) return "lost";
    return busyStates.test(state) ? "busy" : "refused";
  }
  // What is neither of the server nor a bug comes from the socket or from `pg` itself, which throws plain errors.
  const isPlain = error instanceof Error && !(error instanceof LogError) && error.name === "Error";
  return isPlain || error instanceof AggregateError ? "lost" : "refused";
}

/** The error of the log for what the server, or the way to it, gave. */
export function postgresFailure(what: string, error: unknown): unknown {
  const state = sqlState(error);
  const trouble = troubleOf(error);
  if (state === undefined && trouble === "refused") return error;
  const message = error instanceof Error ? error.message : String(error);
  return new LogError(codeOf(state, trouble), `${what} failed: ${message}`, { cause: error });
}

function codeOf(state: string | undefined, trouble: Trouble): LogErrorCode {
  if (trouble === "busy") return "LogBusy";
  return state !== undefined && corruptStates.test(state) ? "LogCorrupt" : "LogWrite";
}
