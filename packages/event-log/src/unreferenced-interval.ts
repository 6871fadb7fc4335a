/** A `setInterval` that does not keep the process alive. Returns a function that stops it. */
export function unreferencedInterval(callback: () => void, ms: number): () => void {
  const timer = setInterval(callback, ms);
  unref(timer);
  return () => clearInterval(timer);
}

/** Lets the process end while this timer or channel is active; does nothing in browsers. */
export function unref(timer: unknown): void {
  if (hasUnref(timer)) timer.unref();
}

/** Timers are numbers in browsers and objects with `unref` in Node.js. */
const hasUnref = (timer: unknown): timer is { unref(): unknown } =>
  typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function";
