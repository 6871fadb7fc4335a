import { printFailureOf, type ErrorReport } from "./error-reports.ts";
import { callSafely } from "./listeners.ts";

/** How much a log entry matters. `warn`: the work continues, but not as planned. `error`: something failed for good. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a log entry reports. An error without a caller has its source in its code; those of streams are reported by servers. */
export type LogCode =
  | "session-opened"
  | "session-closed"
  | "session-lost"
  | "lease-taken-over"
  | "lease-awaited"
  | "lease-retried"
  | "append-conflict"
  | "append-retried"
  | "llm-retry"
  | "tool-retry"
  | "usage-estimated"
  | "input-ignored"
  | "late-result"
  | "chunk-dropped"
  | "effect-error"
  | "transition-error"
  | "effectsAt-error"
  | "projection-error"
  | "listener-error"
  | "log-error"
  | "question-error"
  | "stream-behind"
  | "stream-stalled";

/** The level of each code. */
export const logLevels: Readonly<Record<LogCode, LogLevel>> = {
  "session-opened": "info",
  "session-closed": "info",
  "session-lost": "warn",
  "lease-taken-over": "warn",
  "lease-awaited": "info",
  "lease-retried": "warn",
  "append-conflict": "debug",
  "append-retried": "warn",
  "llm-retry": "warn",
  "tool-retry": "warn",
  "usage-estimated": "warn",
  "input-ignored": "debug",
  "late-result": "info",
  "chunk-dropped": "debug",
  "effect-error": "error",
  "transition-error": "error",
  "effectsAt-error": "error",
  "projection-error": "error",
  "listener-error": "error",
  "log-error": "warn",
  "question-error": "warn",
  "stream-behind": "debug",
  "stream-stalled": "warn",
};

/** One line for a logger. It is not a record of an event log: nothing reads it back. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly code: LogCode;
  /** A sentence. It contains no contents of the conversation. */
  readonly message: string;
  readonly sessionId: string;
  /** What the entry is about, such as the key of an effect, an owner or a time. */
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
  /** The cause, for a failure. Its message may contain what a tool or a provider wrote. */
  readonly error?: unknown;
}

/** Receives log entries. What it throws or rejects with reaches neither the session nor `onError`; it is printed once. */
export type LogListener = (entry: LogEntry) => void;

/** What a log entry is about, besides its code. */
export type LogDetails = Pick<LogEntry, "message"> & Partial<Pick<LogEntry, "data" | "error">>;

/** The messages of errors that no caller waits for. */
const errorMessages: Readonly<Record<ErrorReport["source"], string>> = {
  effect: "An effect, or the start of one, failed.",
  transition: "The reducer threw for an input.",
  effectsAt: "The effects of a state could not be computed.",
  projection: "A view of a state could not be computed.",
  listener: "A listener or onApproval failed.",
  log: "The log could not be read, written or leased.",
  question: "A person is asked, and nothing in this process shows the question.",
};

/** Gives log entries of one session to a listener. Does nothing without one. */
export class Logger {
  readonly #sessionId: string;
  readonly #listener: LogListener | undefined;

  constructor(sessionId: string, listener: LogListener | undefined) {
    this.#sessionId = sessionId;
    this.#listener = listener;
  }

  /** Whether entries are read: what is costly to find out need not be found out without. */
  get isRead(): boolean {
    return this.#listener !== undefined;
  }

  log(code: LogCode, { message, data = {}, ...cause }: LogDetails): void {
    const listener = this.#listener;
    if (listener === undefined) return;
    const sessionId = this.#sessionId;
    callSafely(
      () => listener({ level: logLevels[code], code, message, sessionId, data, ...cause }),
      (error) => printFailureOf("onLog", sessionId, error),
    );
  }

  /** Logs an error that no caller waits for. Its text is in `error` only, since it may contain what a tool or a provider wrote. */
  report({ source, error, key }: ErrorReport): void {
    const data = key === undefined ? {} : { key };
    this.log(`${source}-error`, { message: errorMessages[source], data, error });
  }
}
