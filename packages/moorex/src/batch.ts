import type { BatchResult, Dispatch, DispatchedInput, DispatchResult } from "./definition.ts";
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

/** Queues a batch. Settles it at once if its run is over or the machine was stopped. */
export type Enqueue<State, Input, Effect> = (batch: Batch<State, Input, Effect>) => void;

/** The dispatch of a run, or of callers outside. */
export const dispatchOf =
  <State, Input, Effect>(
    enqueue: Enqueue<State, Input, Effect>,
    run?: Run<State, Input, Effect>,
  ): Dispatch<State, Input> =>
  (...inputs) => {
    const batch = new Batch<State, Input, Effect>(inputs, run);
    enqueue(batch);
    return batch.promise();
  };

const resultPromise = <State>(result: BatchResult<State>): Promise<DispatchResult<State>> =>
  "error" in result ? markHandled(Promise.reject(result.error)) : Promise.resolve(result);

/** Marks a promise that the caller need not catch, because a notice reports its error too. */
function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
