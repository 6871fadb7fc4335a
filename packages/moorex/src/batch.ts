import type { DispatchResult } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** The inputs of one dispatch, and its result. */
export interface Batch<State, Input, Effect> {
  readonly inputs: readonly Input[];
  /** The run that dispatched it; undefined for a dispatch from outside. */
  readonly run: Run<Effect> | undefined;
  result: Promise<DispatchResult<State>> | undefined;
  settle: ((result: Promise<DispatchResult<State>>) => void) | undefined;
}

export const newBatch = <State, Input, Effect>(
  inputs: readonly Input[],
  run?: Run<Effect>,
): Batch<State, Input, Effect> => ({ inputs, run, result: undefined, settle: undefined });

/** The result of a batch, now or later. */
export const resultOf = <State>(batch: Batch<State, unknown, unknown>): Promise<DispatchResult<State>> =>
  batch.result ?? markHandled(new Promise((resolve) => (batch.settle = resolve)));

/** Gives a batch its result, unless it has one. */
export const settleBatch = <State>(
  batch: Batch<State, unknown, unknown>,
  result: Promise<DispatchResult<State>>,
): void => {
  if (batch.result !== undefined) return;
  batch.result = result;
  batch.settle?.(result);
};

/** A rejection that the caller does not have to catch: it is reported as a notice as well. */
export const rejected = (error: unknown): Promise<never> => markHandled(Promise.reject(error));

function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
