import type { Clock } from "@moora/agent-core-effects";

/** Retries failed work, with delays that double from 50 ms to 10 s. */
export interface Retries {
  failed(): void;
  succeeded(): void;
  stop(): void;
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly again: () => void;
  /** Whether the timer of the next retry keeps the process alive. */
  readonly keepsAlive: boolean;
  /** Called when nothing has succeeded for `patienceMs` since the first failure, and again after each `patienceMs` more. */
  readonly onLongFailure?: () => void;
}

const firstDelayMs = 50;
const longestDelayMs = 10_000;
/** For how long failures are retried before `onLongFailure` is called, in milliseconds. */
export const patienceMs = 10_000;

export function retries({ clock, again, keepsAlive, onLongFailure }: RetryOptions): Retries {
  let delayMs = firstDelayMs;
  let cancelTry: (() => void) | undefined;
  let cancelPatience: (() => void) | undefined;
  /** Whether `patienceMs` have passed: the next failure is then a long one. */
  let isOverdue = false;

  const tryNow = (): void => {
    cancelTry?.();
    cancelTry = undefined;
    again();
  };
  const markOverdue = (): void => {
    cancelPatience = undefined;
    isOverdue = true;
    tryNow();
  };
  const stop = (): void => {
    cancelTry?.();
    cancelTry = undefined;
    cancelPatience?.();
    cancelPatience = undefined;
    isOverdue = false;
  };
  return {
    failed() {
      if (isOverdue) onLongFailure?.();
      isOverdue = false;
      if (onLongFailure !== undefined)
        cancelPatience ??= clock.after(patienceMs, markOverdue, { keepsAlive: false });
      if (cancelTry !== undefined) return;
      cancelTry = clock.after(delayMs, tryNow, { keepsAlive });
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    },
    succeeded() {
      stop();
      delayMs = firstDelayMs;
    },
    stop,
  };
}
