import type { Clock } from "@moora/agent-core-effects";

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback, { keepsAlive = true } = {}) {
    const timer = setTimeout(callback, ms);
    if (!keepsAlive) unref(timer);
    return () => clearTimeout(timer);
  },
};

/** Lets a process end before this timer is due. Timers of Node are objects; those of browsers are numbers. */
function unref(timer: unknown): void {
  if (isUnrefable(timer)) timer.unref();
}

const isUnrefable = (timer: unknown): timer is { unref(): unknown } =>
  typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function";
