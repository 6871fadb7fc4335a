import type { BatchResult, DispatchedInput, DispatchResult } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** The inputs of one dispatch, and its result. */
export class Batch<State, Input, Effect> {
  readonly inputs: readonly DispatchedInput<State, Input>[];
  /** The run that dispatched the batch; undefined for a dispatch from outside. */
  readonly run: Run<State, Input, Effect> | undefined;
  #result: BatchResult<State> | undefined;
  /** Called once with the result, by `report`. */
  #onSettled: ((result: BatchResult<State>) => void) | undefined;

  constructor(
    inputs: readonly DispatchedInput<State, Input>[],
    run?: Run<State, Input, Effect>,
    onSettled?: (result: BatchResult<State>) => void,
  ) {
    this.inputs = inputs;
    this.run = run;
    this.#onSettled = onSettled;
  }

  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  /** Settles the batch, unless it is settled already. */
  settle(result: BatchResult<State>): void {
    this.#result ??= result;
  }

  /** Reports the result to the caller that waits for it, if it is known. */
  report(): void {
    if (this.#result === undefined) return;
    this.#onSettled?.(this.#result);
    this.#onSettled = undefined;
  }

  /** A promise for the result, which may be known already. */
  promise(): Promise<DispatchResult<State>> {
    if (this.#result !== undefined) return resultPromise(this.#result);
    return markHandled(
      new Promise((resolve) => {
        this.#onSettled = (result) => resolve(resultPromise(result));
      }),
    );
  }
}

const resultPromise = <State>(result: BatchResult<State>): Promise<DispatchResult<State>> =>
  "error" in result ? rejected(result.error) : Promise.resolve(result);

/** A rejected promise that the caller need not catch, because a notice reports the error too. */
export const rejected = (error: unknown): Promise<never> => markHandled(Promise.reject(error));

function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
