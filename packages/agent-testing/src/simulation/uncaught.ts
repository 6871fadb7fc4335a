/** Called with errors that nothing catches, while sessions are simulated. */
const listeners = new Set<(what: string) => void>();

const onRejection = (reason: unknown): void => report(`a rejection that nothing handles: ${String(reason)}`);
const onException = (error: unknown): void => report(`an exception that ends the process: ${String(error)}`);

function report(what: string): void {
  for (const listener of listeners) listener(what);
}

/**
 * Reports rejections that nothing handles and exceptions that nothing catches, until it is called off with what it
 * returns. An exception does not end the process meanwhile.
 */
export function onUncaught(listener: (what: string) => void): () => void {
  if (listeners.size === 0) {
    process.on("unhandledRejection", onRejection);
    if (!process.hasUncaughtExceptionCaptureCallback())
      process.setUncaughtExceptionCaptureCallback(onException);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    process.off("unhandledRejection", onRejection);
    process.setUncaughtExceptionCaptureCallback(null);
  };
}
