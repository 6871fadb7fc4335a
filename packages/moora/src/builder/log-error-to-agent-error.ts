import { AgentError, SessionError, type AgentErrorKind, type AgentState } from "@moora/agent";
import { LogError } from "@moora/event-log";

/** Error kinds by the code of the log or session. All other codes are `MemoryError`. */
const kinds: Readonly<Record<string, AgentErrorKind>> = {
  LogCorrupt: "LogCorrupt",
  Conflict: "Conflict",
  LogExists: "Conflict",
  LogRemoved: "Conflict",
  SessionBusy: "Conflict",
  RunByEngine: "Conflict",
  MoveUnfinished: "Conflict",
  SessionIncomplete: "Conflict",
  CallOpen: "Conflict",
  StaleWriter: "Conflict",
  WrongAgent: "Conflict",
};

/** An error of a log or a session as an `AgentError`, with its code as the reason. Returns other errors unchanged. */
export function logErrorToAgentError(error: unknown, state: AgentState): unknown {
  if (!(error instanceof LogError || error instanceof SessionError)) return error;
  const { code: reason, message } = error;
  return new AgentError(kinds[reason] ?? "MemoryError", message, { reason, state, cause: error });
}
