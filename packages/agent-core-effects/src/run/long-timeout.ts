import type { Clock, TimerOptions } from "./host.ts";

/** The longest delay of a timer, in milliseconds; longer ones fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Calls back once, `ms` from now, however long that is; never for Infinity. Returns a function that cancels it. */
export function setLongTimeout(
  clock: Clock,
  ms: number,
  callback: () => void,
  options?: TimerOptions,
): () => void {
  let cancelTimer = (): void => undefined;
  const wait = (left: number): void => {
    const part = Math.min(left, longestTimer);
    cancelTimer = clock.after(part, () => (left > part ? wait(left - part) : callback()), options);
  };
  wait(ms);
  return () => cancelTimer();
}
