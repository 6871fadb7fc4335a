import type { Clock } from "./agent-parts.ts";

/** Longer timers than this fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Calls back once, `ms` from now, however long that is; answers how to call it off. */
export function callAfter(clock: Clock, ms: number, callback: () => void): () => void {
  let callOff = (): void => undefined;
  const wait = (left: number): void => {
    const part = Math.min(left, longestTimer);
    callOff = clock.after(part, () => (left > part ? wait(left - part) : callback()));
  };
  wait(ms);
  return () => callOff();
}
