import { isPromise } from "./maybe-promise.ts";
import type { MaybePromise } from "./port.ts";

/** Runs operations one after the other, in the order of the calls. On an empty queue, an operation runs synchronously. */
export class SerialQueue {
  #last: Promise<unknown> | undefined;

  run<T>(operation: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#last !== undefined) return this.#keep(this.#last.then(operation));
    const value = operation();
    return isPromise(value) ? this.#keep(value) : value;
  }

  #keep<T>(value: Promise<T>): Promise<T> {
    const last = value
      .catch(() => undefined)
      .then(() => {
        if (this.#last === last) this.#last = undefined;
      });
    this.#last = last;
    return value;
  }
}
