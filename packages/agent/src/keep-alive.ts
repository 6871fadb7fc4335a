/** The longest time that a timer can have. */
const longestMs = 2 ** 31 - 1;

/**
 * Keeps a process alive while something is waited for that can come from another process: what waits for it in this one,
 * a file watch or a lease, does not. Elsewhere than on Node it is an idle timer and has no effect.
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
