import { isPromise } from "@moora/agent-core-effects/internal";
import type { MaybePromise } from "@moora/event-log";

/** Continues with a value at once where it is there, so that a local log costs no promise. */
export const andThen = <From, To>(
  value: MaybePromise<From>,
  next: (value: From) => MaybePromise<To>,
): MaybePromise<To> => (isPromise(value) ? value.then(next) : next(value));

/** The same for work that may fail now or later. What `done` throws is not caught. */
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
  return isPromise(value) ? value.then(done, failed) : done(value);
}

/** Calls back when work that may take time is over, however it ended; undefined when it took none. */
export const andFinally = (value: MaybePromise<unknown>, over: () => void): Promise<void> | undefined =>
  isPromise(value) ? value.then(over, over) : undefined;
