import type { MaybePromise } from "./port.ts";

/** Whether a value is a promise, including promises of another realm, such as the sandbox of a test runner. */
export const isPromise = <Value>(value: MaybePromise<Value>): value is Promise<Value> =>
  value instanceof Promise || Object.prototype.toString.call(value) === "[object Promise]";

/** Calls `next` with the value: synchronously if it is not a promise, so that a local log creates no promise. */
export const andThen = <From, To>(
  value: MaybePromise<From>,
  next: (value: From) => MaybePromise<To>,
): MaybePromise<To> => (isPromise(value) ? value.then(next) : next(value));

/** Runs synchronous or asynchronous work; `toError` maps its error to the one that is thrown. */
export function mapError<Value>(
  work: () => MaybePromise<Value>,
  toError: (error: unknown) => unknown,
): MaybePromise<Value> {
  const rethrow = (error: unknown): never => {
    throw toError(error);
  };
  try {
    const value = work();
    return isPromise(value) ? value.catch(rethrow) : value;
  } catch (error) {
    return rethrow(error);
  }
}
