import { AgentError, SessionError, type AgentErrorKind, type AgentState } from "@moora/agent";
import { LogError } from "@moora/event-log";

/** Kinds by the code of the log or the session; all others are failures of the memory. */
const kinds: Readonly<Record<string, AgentErrorKind>> = {
  LogCorrupt: "LogCorrupt",
  Conflict: "Conflict",
  LogExists: "Conflict",
  LogRemoved: "Conflict",
  SessionBusy: "Conflict",
  StaleWriter: "Conflict",
  WrongAgent: "Conflict",
};

/** What a log or a session says, in the words of the engine, with its code as the reason. Other errors stay as they are. */
export function logErrorToAgentError(error: unknown, state: AgentState): unknown {
  if (!(error instanceof LogError || error instanceof SessionError)) return error;
  const { code: reason, message } = error;
  return new AgentError(kinds[reason] ?? "MemoryError", message, { reason, state, cause: error });
}
