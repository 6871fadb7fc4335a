/**
 * Whether a value has to be waited for. Promises of another realm, such as those of a test runner's sandbox, are known
 * by their tag; any other object with a `then` is data.
 */
export const isPromise = <Value>(value: Value | Promise<Value>): value is Promise<Value> =>
  value instanceof Promise ||
  (typeof value === "object" &&
    value !== null &&
    Object.prototype.toString.call(value) === "[object Promise]" &&
    "then" in value &&
    typeof value.then === "function");

/** Continues with a value now, or when it is there. */
export const after = <From, To>(
  value: From | Promise<From>,
  toResult: (value: From) => To | Promise<To>,
): To | Promise<To> => (isPromise(value) ? value.then(toResult) : toResult(value));
