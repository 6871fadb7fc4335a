import { LogError } from "./log-error.ts";
import type { MaybePromise } from "./port.ts";

/** The result of one attempt at an operation that needs a lock; undefined when the lock was busy. */
export type Attempt<T> = { readonly value: T } | undefined;

export interface BusyOptions {
  /** How long to retry before `LogBusy`, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** The file that is locked, and the location of its lock, for the error message. */
  readonly what: string;
  readonly lock?: string;
  /** Runs before each retry. */
  readonly beforeRetry?: (() => Promise<void>) | undefined;
}

const shortestWaitMs = 1;
const longestWaitMs = 10;

/**
 * Attempts an operation synchronously. While another process holds the lock, retries asynchronously until the timeout; then
 * throws `LogBusy`. Delays are short and random, so that a process that writes continuously does not starve others. The
 * options are requested only if the first attempt was busy.
 */
export function retryWhileBusy<T>(tryOnce: () => Attempt<T>, optionsOf: () => BusyOptions): MaybePromise<T> {
  const first = tryOnce();
  if (first !== undefined) return first.value;
  const options = optionsOf();
  if (options.busyTimeoutMs <= 0) throw logBusy(options);
  return retry(tryOnce, options);
}

async function retry<T>(tryOnce: () => Attempt<T>, options: BusyOptions): Promise<T> {
  const end = performance.now() + options.busyTimeoutMs;
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
    const leftMs = end - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.min(leftMs, waitMs * (0.5 + Math.random()))));
    await options.beforeRetry?.();
    const next = tryOnce();
    if (next !== undefined) return next.value;
    if (performance.now() >= end) throw logBusy(options);
  }
}

function logBusy({ busyTimeoutMs, what, lock }: BusyOptions): LogError {
  const where = lock === undefined ? "" : ` (the lock is in ${lock})`;
  return new LogError(
    "LogBusy",
    `${what} was locked by another process for ${busyTimeoutMs} ms${where}. Try again.`,
  );
}
