import type { DispatchedInput } from "./dispatched-input.ts";
import { isPromise } from "../is-promise.ts";

/** One instruction of an effect: inputs to dispatch, or a promise to wait for. */
export type EffectInstruction =
  | { readonly dispatch: readonly DispatchedInput[] }
  | { readonly wait: Promise<unknown> };

/**
 * An effect as a program of instructions. Its driver decides how inputs are dispatched and whether the program may wait:
 * the runner of a session, a custom runner, or a synchronous call.
 */
export type EffectProgram<Result> = Generator<EffectInstruction, Result, unknown>;

/** Dispatches inputs as one batch; returns whether they applied. An effect acts only if its intent did. */
export function* dispatch(...inputs: readonly DispatchedInput[]): EffectProgram<boolean> {
  return (yield { dispatch: inputs }) === true;
}

/** Waits for a promise and returns its value; a value that is not a promise is returned at once. */
export function* waitFor<Value>(value: Value | Promise<Value>): EffectProgram<Value> {
  // Drivers resume with the value of the promise.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return isPromise(value) ? ((yield { wait: value }) as Value) : value;
}

/** What a program is driven with. Each instruction is answered with a call of `next` or `fail`. */
export interface ProgramDriver {
  /** Dispatches a batch. Calls `next` with whether it applied, or `fail` if it could not be dispatched. */
  dispatch(
    inputs: readonly DispatchedInput[],
    next: (hasApplied: boolean) => void,
    fail: (error: unknown) => void,
  ): void;
  /** Called when the program has ended. */
  done(): void;
  /** Called when the program has thrown. */
  failed(error: unknown): void;
}

/** Drives a program to its end, without promises of its own. A failure is thrown into the program. */
export function driveProgram(run: EffectProgram<void>, driver: ProgramDriver): void {
  const next = (value: unknown): void => resume("next", value);
  const fail = (error: unknown): void => resume("throw", error);
  function resume(how: "next" | "throw", value: unknown): void {
    let step: IteratorResult<EffectInstruction, void>;
    try {
      step = run[how](value);
    } catch (error) {
      return driver.failed(error);
    }
    if (step.done === true) driver.done();
    else if ("wait" in step.value) step.value.wait.then(next, fail);
    else driver.dispatch(step.value.dispatch, next, fail);
  }
  resume("next", undefined);
}

/**
 * Dispatches a batch in order, and returns whether it applied: whether it changed the state. `applyInputs` does this. The program acts on this: an effect whose
 * intent did not apply does nothing, because the state no longer wants it or another runner has started it.
 */
export type DispatchBatch = (...inputs: readonly DispatchedInput[]) => boolean | Promise<boolean>;

/** Runs a program to its end. What `dispatchBatch` throws is thrown into the program, which then dispatches its failure. */
export function runProgram(run: EffectProgram<void>, dispatchBatch: DispatchBatch): Promise<void> {
  const dispatched = async (inputs: readonly DispatchedInput[]): Promise<boolean> => dispatchBatch(...inputs);
  return new Promise((done, failed) => {
    driveProgram(run, {
      dispatch: (inputs, next, fail) => void dispatched(inputs).then(next, fail),
      done,
      failed,
    });
  });
}

/** Thrown when a program that must be synchronous has to wait. */
export class NotSynchronous extends Error {
  override readonly name = "NotSynchronous";
}

/**
 * Runs a program to its end without waiting. `dispatchBatch` returns whether a batch applied. Throws `NotSynchronous` for a
 * program that waits; the outcome of what it waits for is ignored.
 */
export function runProgramSync(
  run: EffectProgram<void>,
  dispatchBatch: (...inputs: readonly DispatchedInput[]) => boolean,
): void {
  let step = run.next();
  while (step.done !== true) {
    if (!("dispatch" in step.value)) {
      step.value.wait.catch(() => undefined);
      throw new NotSynchronous(
        "A synchronous run needs a model with `callSync` and tools that do not return promises.",
      );
    }
    step = run.next(dispatchBatch(...step.value.dispatch));
  }
}
