/** The value of a promise, or undefined as soon as the signal is aborted. Leaves no listener behind. */
export function untilAborted<Value>(
  promise: PromiseLike<Value>,
  signal: AbortSignal | undefined,
): Promise<Value | undefined> {
  const { promise: settled, resolve, reject } = Promise.withResolvers<Value | undefined>();
  const abort = (): void => resolve(undefined);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  promise.then(resolve, reject);
  return settled.finally(() => signal?.removeEventListener("abort", abort));
}
