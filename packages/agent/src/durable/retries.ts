import type { Clock } from "@moora/agent-core-effects";

/** Tries again what failed, later and later. */
export interface Retries {
  failed(): void;
  succeeded(): void;
  stop(): void;
}

const firstDelayMs = 50;
const longestDelayMs = 10_000;

export function retries(clock: Clock, again: () => void): Retries {
  let delayMs = firstDelayMs;
  let callOff: (() => void) | undefined;
  const stop = (): void => {
    callOff?.();
    callOff = undefined;
  };
  return {
    failed() {
      if (callOff !== undefined) return;
      callOff = clock.after(delayMs, () => {
        callOff = undefined;
        again();
      });
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    },
    succeeded() {
      stop();
      delayMs = firstDelayMs;
    },
    stop,
  };
}
