import type { MaybePromise } from "./port.ts";

/** Whether a value has to be awaited. Promises of another realm, such as a test runner's sandbox, are known by their tag. */
export const isPromise = <Value>(value: MaybePromise<Value>): value is Promise<Value> =>
  value instanceof Promise || Object.prototype.toString.call(value) === "[object Promise]";

/** Continues with a value: at once if it is there, so that a local log costs no promise. */
export const andThen = <From, To>(
  value: MaybePromise<From>,
  next: (value: From) => MaybePromise<To>,
): MaybePromise<To> => (isPromise(value) ? value.then(next) : next(value));

/** Runs work that may fail now or later. `failed` maps its error to the one that is thrown. */
export function mapError<Value>(
  work: () => MaybePromise<Value>,
  failed: (error: unknown) => unknown,
): MaybePromise<Value> {
  const rethrow = (error: unknown): never => {
    throw failed(error);
  };
  try {
    const value = work();
    return isPromise(value) ? value.catch(rethrow) : value;
  } catch (error) {
    return rethrow(error);
  }
}
