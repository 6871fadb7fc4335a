import { errorText } from "@moora/agent-core-effects/internal";
import type { Logger } from "./logger.ts";
import { callSafely } from "./listeners.ts";

/**
 * The source of an error that no caller waits for.
 *
 * - `effect`: a model call, tool, handler or question ended without a result, or threw after its end; `key` is the key of
 *   the effect.
 * - `transition`: the reducer threw for an input of an effect, `key` is the key of the effect; or for an input that
 *   another process appended to the log, without a key: the session halts with the reason `InternalError`.
 * - `effectsAt`: the effects of a state could not be computed.
 * - `projection`: the events, or another view, of a state could not be computed.
 * - `listener`: a callback given to `subscribe`, `onEvent`, `onInput` or `follow` threw or rejected; or `onApproval` did,
 *   or returned an invalid decision, and `key` is the key of the question.
 * - `log`: the log could not be read, written or leased; where a retry can help, the session retries.
 * - `question`: a question is open, and no listener or `onApproval` in this process can answer it.
 */
export type ErrorReportSource =
  | "effect"
  | "transition"
  | "effectsAt"
  | "projection"
  | "listener"
  | "log"
  | "question";

/** An error that no caller waits for. */
export interface ErrorReport {
  readonly source: ErrorReportSource;
  readonly error: unknown;
  /** The key of the effect that the error concerns, if any. */
  readonly key?: string;
}

/** Receives the errors of a session that no caller waits for. */
export type ErrorListener = (report: ErrorReport) => void;

/** The errors of one session that no caller waits for. */
export interface ErrorReports {
  report(report: ErrorReport): void;
  /**
   * Calls the listener with every later report, and with the undelivered reports of this turn of the event loop.
   * Returns a function that removes the listener.
   */
  listen(listener: ErrorListener): () => void;
}

/** The number of different errors that one process prints at most. */
const maxPrinted = 1_000;
/** The sources and messages of the errors that this process has printed, of all sessions, by the `console.error` that printed them. */
const printed = new WeakMap<typeof console.error, Set<string>>();

/**
 * Passes reports to the logger and to the listeners. If there is no listener at the end of the current turn of the event loop, an error
 * is printed by `console.error`, once for each source and message, so that a repeated failure does not flood the
 * output.
 */
export function errorReports(
  sessionId: string,
  onError: ErrorListener | undefined,
  logger: Logger,
): ErrorReports {
  const listeners = new Set<ErrorListener>(onError === undefined ? [] : [onError]);
  let undelivered: ErrorReport[] = [];

  const deliver = (report: ErrorReport, listener: ErrorListener): void =>
    callSafely(
      () => listener(report),
      (error) => printFailureOf("onError", sessionId, error),
    );

  const printUndelivered = (): void => {
    const reports = undelivered;
    undelivered = [];
    for (const report of reports) printOnce(sessionId, report);
  };

  return {
    report(report) {
      logger.report(report);
      for (const listener of listeners) deliver(report, listener);
      if (listeners.size > 0) return;
      if (undelivered.length === 0) setTimeout(printUndelivered);
      undelivered.push(report);
    },
    listen(listener) {
      const own: ErrorListener = (report) => listener(report);
      listeners.add(own);
      const reports = undelivered;
      undelivered = [];
      for (const report of reports) deliver(report, own);
      return () => void listeners.delete(own);
    },
  };
}

/** Prints an error of a session that has no listener, once for each source and message. */
function printOnce(sessionId: string, { source, error, key }: ErrorReport): void {
  const about = key === undefined ? source : `${source}, ${key}`;
  print(
    source,
    error,
    `${nameOf(sessionId, about)}: unhandled error, printed once. Handle it with session.onError.`,
  );
}

/** Prints what a listener of errors or of log entries threw, once for each message: no other listener receives it. */
export function printFailureOf(listener: "onError" | "onLog", sessionId: string, error: unknown): void {
  print(
    listener,
    error,
    `${nameOf(sessionId, listener)}: the listener failed, printed once. Catch its errors within it.`,
  );
}

const nameOf = (sessionId: string, about: string): string =>
  `Session ${JSON.stringify(sessionId)} (${about})`;

/** Prints an error unless it was printed for this source. An error that cannot be inspected is printed as its message. */
function print(source: string, error: unknown, text: string): void {
  const message = errorText(error);
  const name = `${source}: ${message}`;
  const names = printed.get(console.error) ?? new Set();
  printed.set(console.error, names);
  if (names.has(name) || names.size >= maxPrinted) return;
  names.add(name);
  try {
    console.error(text, error);
  } catch {
    printText(`${text} ${message}`);
  }
}

/** Printing must not disturb a session, also where the console does not work. */
function printText(text: string): void {
  try {
    console.error(text);
  } catch {
    // There is nothing left to report it to.
  }
}
