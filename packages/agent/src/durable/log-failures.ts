import { AgentError } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import { LogError } from "@moora/event-log";
import { patienceMs } from "./retries.ts";
import { SessionError } from "./session-error.ts";

/** The codes of log errors for which a retry is useless. */
const finalCodes: ReadonlySet<string> = new Set([
  "Conflict",
  "LogCorrupt",
  "LogRemoved",
  "UnsupportedVersion",
]);

/** Whether a session cannot continue on its log after this error. */
export const isFinal = (error: unknown): error is SessionError | LogError =>
  error instanceof SessionError || (error instanceof LogError && finalCodes.has(error.code));

/** The error of the runs of a session that cannot continue after this error. */
export const lostError = (error: SessionError | LogError, state: AgentState | undefined): AgentError =>
  new AgentError(error.code === "LogCorrupt" ? "LogCorrupt" : "Conflict", error.message, {
    reason: error.code,
    ...(state === undefined ? {} : { state }),
    cause: error,
  });

/** The error of the runs of a session whose log could not be written for a long time. */
export const unwritableError = (cause: unknown, state: AgentState): AgentError => {
  const message = `The log could not be written for ${patienceMs} ms. The session keeps the unsaved inputs and appends them when the log is writable again.`;
  return new AgentError("MemoryError", message, { state, cause });
};
