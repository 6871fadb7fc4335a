/**
 * Whether a value is a promise. Promises of another realm, such as the sandbox of a test runner, are recognized by their
 * tag. Any other object with a `then` method is data.
 */
export const isPromise = <Value>(value: Value | Promise<Value>): value is Promise<Value> =>
  value instanceof Promise ||
  (typeof value === "object" &&
    value !== null &&
    Object.prototype.toString.call(value) === "[object Promise]" &&
    "then" in value &&
    typeof value.then === "function");

/** Continues with a value: immediately, or when its promise resolves. */
export const after = <From, To>(
  value: From | Promise<From>,
  toResult: (value: From) => To | Promise<To>,
): To | Promise<To> => (isPromise(value) ? value.then(toResult) : toResult(value));
