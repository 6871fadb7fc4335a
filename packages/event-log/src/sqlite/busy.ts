import { LogError } from "../log-error.ts";

const sqliteBusy = 5;
const shortestWaitMs = 0.2;
const longestWaitMs = 3;

/** The result code of an error of SQLite, without what its extended code adds; undefined for other errors. */
export const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) % 256 : undefined;

/**
 * Runs an operation again while SQLite is busy, up to a limit; then `LogBusy`. The waits are short and random: SQLite's
 * own grow to 100 ms a step, and let one process that writes all the time starve the others.
 */
export function whenFree<T>(busyTimeoutMs: number, operation: () => T): T {
  const start = performance.now();
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
    try {
      return operation();
    } catch (error) {
      if (resultCode(error) !== sqliteBusy) throw error;
      if (performance.now() - start >= busyTimeoutMs) {
        throw new LogError("LogBusy", `another process kept the log locked for ${busyTimeoutMs} ms`, {
          cause: error,
        });
      }
      sleep(waitMs * (0.5 + Math.random()));
    }
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

const sleep = (ms: number): void => void Atomics.wait(sleeper, 0, 0, ms);
