import type { MaybePromise } from "@moora/event-log";

/** Goes on with a value at once where it is there, so that a local log costs no promise. */
export const whenThere = <From, To>(
  value: MaybePromise<From>,
  next: (value: From) => MaybePromise<To>,
): MaybePromise<To> => (value instanceof Promise ? value.then(next) : next(value));

/** The same for work that may fail now or later. */
export function attempt<From, To>(
  work: () => MaybePromise<From>,
  done: (value: From) => MaybePromise<To>,
  failed: (error: unknown) => MaybePromise<To>,
): MaybePromise<To> {
  let value: MaybePromise<From>;
  try {
    value = work();
  } catch (error) {
    return failed(error);
  }
  return value instanceof Promise ? value.then(done, failed) : done(value);
}
