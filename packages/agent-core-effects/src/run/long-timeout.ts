import type { Clock } from "./host.ts";

/** The longest delay of a timer, in milliseconds; longer ones fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Calls back once, after any number of milliseconds. Returns a function that cancels the timer. */
export function setLongTimeout(clock: Clock, ms: number, callback: () => void): () => void {
  let cancelTimer = (): void => undefined;
  const wait = (left: number): void => {
    const part = Math.min(left, longestTimer);
    cancelTimer = clock.after(part, () => (left > part ? wait(left - part) : callback()));
  };
  wait(ms);
  return () => cancelTimer();
}
