import type { DispatchResult } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** The inputs of one dispatch, and its result. */
export interface Batch<State, Input, Effect> {
  readonly inputs: readonly Input[];
  /** The run that dispatched the batch; undefined for a dispatch from outside. */
  readonly run: Run<Effect> | undefined;
  result: Promise<DispatchResult<State>> | undefined;
  settle: ((result: Promise<DispatchResult<State>>) => void) | undefined;
}

export const newBatch = <State, Input, Effect>(
  inputs: readonly Input[],
  run?: Run<Effect>,
): Batch<State, Input, Effect> => ({ inputs, run, result: undefined, settle: undefined });

/** A promise for the result of a batch, which may be settled already. */
export const resultOf = <State>(batch: Batch<State, unknown, unknown>): Promise<DispatchResult<State>> =>
  batch.result ?? markHandled(new Promise((resolve) => (batch.settle = resolve)));

/** Settles a batch with its result, unless it is settled already. */
export const settleBatch = <State>(
  batch: Batch<State, unknown, unknown>,
  result: Promise<DispatchResult<State>>,
): void => {
  if (batch.result !== undefined) return;
  batch.result = result;
  batch.settle?.(result);
};

/** A rejected promise that the caller need not catch, because a notice reports the error too. */
export const rejected = (error: unknown): Promise<never> => markHandled(Promise.reject(error));

function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
