/**
 * Where an error came from that no caller waits for.
 *
 * - `effect`: a model call, tool, handler or question that ended without an answer; `key` names it.
 * - `transition`: the reducer threw for an input that an effect dispatched; `key` names the effect.
 * - `effectsAt`: the effects of a state could not be computed.
 * - `projection`: the events, or another view, of a state could not be computed.
 * - `listener`: a callback given to `subscribe`, `onEvent`, `onInput` or `follow` threw or rejected.
 * - `log`: the log could not be read, written or leased; what can be tried again is tried again.
 * - `question`: a human is asked, and nothing in this process could show or answer the question.
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
  /** The key of the effect that it concerns, where there is one. */
  readonly key?: string;
}

export type ErrorListener = (report: ErrorReport) => void;

/** The errors of one session that no caller waits for. */
export interface ErrorReports {
  report(report: ErrorReport): void;
  /** Calls back with every report from now on, and with those of this turn of the event loop that were not heard. */
  listen(listener: ErrorListener): () => void;
}

/** So many different errors are printed in the life of a process. */
const maxPrinted = 1_000;
/** The sources and messages of those that were printed, of all sessions. */
const printed = new Set<string>();

/**
 * Reports go to the listeners. Where there are none by the end of the present turn of the event loop, an error is
 * printed by `console.error`: once for each source and message, so that a failure that repeats, or that all sessions of
 * a process have, is not a flood.
 */
export function errorReports(sessionId: string, onError: ErrorListener | undefined): ErrorReports {
  const listeners = new Set<ErrorListener>(onError === undefined ? [] : [onError]);
  let unheard: ErrorReport[] = [];

  const deliver = (report: ErrorReport, listener: ErrorListener): void => {
    try {
      listener(report);
    } catch (error) {
      print(sessionId, { source: "listener", error });
    }
  };

  const printUnheard = (): void => {
    const reports = unheard;
    unheard = [];
    for (const report of reports) print(sessionId, report);
  };

  return {
    report(report) {
      for (const listener of listeners) deliver(report, listener);
      if (listeners.size > 0) return;
      if (unheard.length === 0) setTimeout(printUnheard);
      unheard.push(report);
    },
    listen(listener) {
      const own: ErrorListener = (report) => listener(report);
      listeners.add(own);
      const reports = unheard;
      unheard = [];
      for (const report of reports) deliver(report, own);
      return () => void listeners.delete(own);
    },
  };
}

function print(sessionId: string, { source, error, key }: ErrorReport): void {
  const name = `${source}: ${error instanceof Error ? error.message : String(error)}`;
  if (printed.has(name) || printed.size >= maxPrinted) return;
  printed.add(name);
  const about = key === undefined ? source : `${source}, ${key}`;
  console.error(
    `Session ${JSON.stringify(sessionId)} (${about}): handle this with session.onError; it is printed once.`,
    error,
  );
}
