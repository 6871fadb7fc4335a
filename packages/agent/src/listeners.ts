import { isPromise } from "@moora/agent-core-effects/internal";

/** A set of callbacks. A callback that throws or rejects does not affect the others. */
export class Listeners<Args extends readonly unknown[]> {
  readonly #all = new Set<{ readonly listener: (...args: Args) => unknown }>();
  readonly #onError: (error: unknown) => void;

  /** `onError` receives the errors of listeners that throw or reject. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Returns a function that removes the listener. */
  add(listener: (...args: Args) => void): () => void {
    const own = { listener };
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  emit(...args: Args): void {
    for (const { listener } of this.#all) {
      try {
        const result = listener(...args);
        if (isPromise(result)) result.then(undefined, this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** Calls the function. `onError` receives what it throws or what its promise rejects with. */
export function callSafely(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const result = call();
    if (isPromise(result)) result.then(undefined, onError);
  } catch (error) {
    onError(error);
  }
}
