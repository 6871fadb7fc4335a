import type { Clock } from "@moora/agent-core-effects";

/**
 * The default clock: `Date.now()` and `setTimeout()`. A timer with `keepsAlive: false` does not keep the process alive.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback, { keepsAlive = true } = {}) {
    const timer = setTimeout(callback, ms);
    if (!keepsAlive) unref(timer);
    return () => clearTimeout(timer);
  },
};

/** Allows the process to end before this timer is due. Timers of Node are objects; those of browsers are numbers. */
function unref(timer: unknown): void {
  if (isUnrefable(timer)) timer.unref();
}

const isUnrefable = (timer: unknown): timer is { unref(): unknown } =>
  typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function";
