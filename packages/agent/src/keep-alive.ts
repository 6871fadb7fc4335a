/** The longest delay of a timer, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/**
 * Keeps the process alive while it waits for another process: file watches and leases alone do not. Returns a function
 * that turns this on and off. Outside Node it has no effect.
 */
export function keepAlive(): (isNeeded: boolean) => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  return (isNeeded) => {
    if (isNeeded) timer ??= setInterval(() => undefined, longestMs);
    else {
      clearInterval(timer);
      timer = undefined;
    }
  };
}
