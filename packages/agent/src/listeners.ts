import { isPromise } from "@moora/agent-core-effects/internal";

/** A set of callbacks. A callback that throws or rejects does not affect the others. */
export interface Listeners<Args extends readonly unknown[]> {
  /** Returns a function that removes the listener. */
  add(listener: (...args: Args) => void): () => void;
  emit(...args: Args): void;
  readonly size: number;
}

/** Creates a set of listeners. `onError` receives the errors of listeners that throw or reject. */
export function listeners<Args extends readonly unknown[]>(
  onError: (error: unknown) => void,
): Listeners<Args> {
  const all = new Set<(...args: Args) => unknown>();
  return {
    add(listener) {
      const own = (...args: Args): unknown => listener(...args);
      all.add(own);
      return () => void all.delete(own);
    },
    emit(...args) {
      for (const listener of all) callSafely(() => listener(...args), onError);
    },
    get size() {
      return all.size;
    },
  };
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
