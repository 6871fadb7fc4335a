import type { DispatchResult, DispatchedInput } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

type BatchResult<State> = { readonly value: DispatchResult<State> } | { readonly error: unknown };

/** The inputs of one dispatch, and its result. */
export class Batch<State, Input, Effect> {
  readonly inputs: readonly DispatchedInput<State, Input>[];
  /** The run that dispatched the batch; undefined for a dispatch from outside. */
  readonly run: Run<Effect> | undefined;
  #result: BatchResult<State> | undefined;
  #onSettled: ((result: BatchResult<State>) => void) | undefined;

  constructor(inputs: readonly DispatchedInput<State, Input>[], run?: Run<Effect>) {
    this.inputs = inputs;
    this.run = run;
  }

  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  resolve(applied: number, state: State): void {
    this.#settle({ value: { applied, state } });
  }

  reject(error: unknown): void {
    this.#settle({ error });
  }

  /** A promise for the result, which may be known already. */
  promise(): Promise<DispatchResult<State>> {
    if (this.#result !== undefined) return settledPromise(this.#result);
    return markHandled(
      new Promise((resolve) => {
        this.#onSettled = (result) => resolve(settledPromise(result));
      }),
    );
  }

  #settle(result: BatchResult<State>): void {
    if (this.#result !== undefined) return;
    this.#result = result;
    this.#onSettled?.(result);
  }
}

const settledPromise = <State>(result: BatchResult<State>): Promise<DispatchResult<State>> =>
  "error" in result ? rejected(result.error) : Promise.resolve(result.value);

/** A rejected promise that the caller need not catch, because a notice reports the error too. */
export const rejected = (error: unknown): Promise<never> => markHandled(Promise.reject(error));

function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
