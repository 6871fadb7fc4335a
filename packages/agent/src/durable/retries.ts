import type { Clock } from "@moora/agent-core-effects";

/** Tries again what failed, later and later. */
export interface Retries {
  failed(): void;
  succeeded(): void;
  stop(): void;
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly again: () => void;
  /** Whether a process stays alive for the next try. */
  readonly keepsAlive: boolean;
  /** Called when nothing has succeeded for `patienceMs` since the first failure, and again after each `patienceMs` more. */
  readonly onLongFailure?: () => void;
}

const firstDelayMs = 50;
const longestDelayMs = 10_000;
/** How long failures are tried again before those who wait for a success hear of them. */
export const patienceMs = 10_000;

export function retries({ clock, again, keepsAlive, onLongFailure }: RetryOptions): Retries {
  let delayMs = firstDelayMs;
  let cancelTry: (() => void) | undefined;
  let cancelPatience: (() => void) | undefined;
  /** Whether the patience is over: the next failure is one too many. */
  let isOverdue = false;

  const tryNow = (): void => {
    cancelTry?.();
    cancelTry = undefined;
    again();
  };
  const losePatience = (): void => {
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
        cancelPatience ??= clock.after(patienceMs, losePatience, { keepsAlive: false });
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
