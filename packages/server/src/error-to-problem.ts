import { DataRefused, InputRefused, LogError, SessionError } from "@moora/agent";
import { HttpProblem, sessionNotFound, unavailable } from "./problem.ts";

/**
 * The problem of an error: `internal`, without a word of the error, for one that no client caused. `engine`: the owner of the log, which
 * may answer later.
 */
export function errorToProblem(error: unknown, engine: string | undefined): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof InputRefused) {
    const { message, path, code } = error;
    return new HttpProblem("refused", `${message} (${code})`, { path, cause: error });
  }
  if (error instanceof DataRefused) return new HttpProblem("refused", error.message, { cause: error });
  if (engine !== undefined && isLogFailure(error))
    return unavailable("The engine of the session does not answer. Retry.", error);
  if (error instanceof SessionError || error instanceof LogError) return logProblem(error);
  return new HttpProblem("internal", "The server failed.", { cause: error });
}

/** Whether an error is that of a log which failed, or which cannot be reached. */
export const isLogFailure = (error: unknown): boolean =>
  error instanceof LogError && error.code === "LogWrite";

const incomplete =
  "The session was never completed: the fork or the import that wrote it was interrupted. Make it again, or remove it.";

const closed =
  "The session is being moved or written. Retry. If that does not help, its move was interrupted, and the operator must repeat it.";

function logProblem(error: SessionError | LogError): HttpProblem {
  switch (error.code) {
    case "SessionUnknown":
    case "LogRemoved":
    case "InvalidId":
    case "WrongAgent":
      return sessionNotFound();
    case "RecordTooLong":
      return new HttpProblem("body-too-large", "The input is longer than the log accepts.", { cause: error });
    case "CallOpen":
    case "RunByEngine":
      return new HttpProblem("refused", error.message, { cause: error });
    case "MoveUnfinished":
      return unavailable(closed, error);
    case "SessionIncomplete":
      return new HttpProblem("session-incomplete", incomplete, { cause: error });
    case "SessionBusy":
    case "StaleWriter":
    case "LogBusy":
    case "Conflict":
      return unavailable("The session is changing its owner. Retry.", error);
    case "ReadOnly":
    case "UnsupportedVersion":
      return unavailable("A newer release wrote this session. It cannot be changed here.", error);
    case "NotOwner":
    case "InvalidOption":
    case "InvalidRecord":
    case "LogCorrupt":
    case "LogExists":
    case "LogWrite":
    case "UnsupportedRuntime":
    case "QuestionUnseen":
      return new HttpProblem("internal", "The server failed.", { cause: error });
  }
}
