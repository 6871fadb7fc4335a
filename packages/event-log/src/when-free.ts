import { LogError } from "./log-error.ts";
import type { MaybePromise } from "./port.ts";

/** The outcome of one try at something that another process may hold; undefined when it was busy. */
export type Try<T> = { readonly value: T } | undefined;

export interface Waiting {
  /** How long to try before `LogBusy`, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** What is busy, and where its lock is, for the error message. */
  readonly what: string;
  readonly lock?: string;
  /** Runs before each further try. */
  readonly beforeRetry?: (() => Promise<void>) | undefined;
}

const shortestWaitMs = 1;
const longestWaitMs = 10;

/**
 * Tries once, at once. While another process is in the way, tries again between other work of the event loop, up to a
 * limit; then `LogBusy`. Waits are short and random, so that one process that writes all the time does not starve others.
 */
export function whenFree<T>(tryOnce: () => Try<T>, waiting: Waiting): MaybePromise<T> {
  const first = tryOnce();
  if (first !== undefined) return first.value;
  if (waiting.busyTimeoutMs <= 0) throw logBusy(waiting);
  return retried(tryOnce, waiting);
}

async function retried<T>(tryOnce: () => Try<T>, waiting: Waiting): Promise<T> {
  const end = performance.now() + waiting.busyTimeoutMs;
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
    const leftMs = end - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, waitMs * (0.5 + Math.random()))));
    await waiting.beforeRetry?.();
    const next = tryOnce();
    if (next !== undefined) return next.value;
    if (performance.now() >= end) throw logBusy(waiting);
  }
}

function logBusy({ busyTimeoutMs, what, lock }: Waiting): LogError {
  const where = lock === undefined ? "" : ` (the lock is in ${lock})`;
  return new LogError(
    "LogBusy",
    `${what} was locked by another process for ${busyTimeoutMs} ms${where}. Try again.`,
  );
}
