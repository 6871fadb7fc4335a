import { isPromise } from "@moora/agent-core-effects/internal";
import type { MaybePromise } from "@moora/event-log";

/** Like `andThen`, with a callback for work that throws or rejects. Exceptions of `done` are not caught. */
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

/** Calls `over` when a promise settles. For a value that is not a promise, returns undefined. */
export const andFinally = (value: MaybePromise<unknown>, over: () => void): Promise<void> | undefined =>
  isPromise(value) ? value.then(over, over) : undefined;
