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
  /** Called when nothing has succeeded for ten seconds since the first failure; then again ten seconds after the next one. */
  readonly onLongFailure?: () => void;
}

const firstDelayMs = 50;
const longestDelayMs = 10_000;
/** A log that fails for longer is told to those who wait for it. */
export const patienceMs = 10_000;

export function retries({ clock, again, keepsAlive, onLongFailure }: RetryOptions): Retries {
  let delayMs = firstDelayMs;
  let cancelTry: (() => void) | undefined;
  let cancelPatience: (() => void) | undefined;
  const stop = (): void => {
    cancelTry?.();
    cancelTry = undefined;
    cancelPatience?.();
    cancelPatience = undefined;
  };
  const losePatience = (): void => {
    cancelPatience = undefined;
    onLongFailure?.();
  };
  return {
    failed() {
      if (onLongFailure !== undefined)
        cancelPatience ??= clock.after(patienceMs, losePatience, { keepsAlive: false });
      if (cancelTry !== undefined) return;
      const tryAgain = (): void => {
        cancelTry = undefined;
        again();
      };
      cancelTry = clock.after(delayMs, tryAgain, { keepsAlive });
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    },
    succeeded() {
      stop();
      delayMs = firstDelayMs;
    },
    stop,
  };
}
