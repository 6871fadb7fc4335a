import type { AgentInput } from "@moora/agent-core-state-machine";
import { isPromise } from "../is-promise.ts";

/** One instruction of an effect: inputs to dispatch, or a promise to wait for. */
export type EffectInstruction =
  | { readonly dispatch: readonly AgentInput[] }
  | { readonly wait: Promise<unknown> };

/**
 * An effect as a program of instructions. Its driver decides how inputs are dispatched and whether the program may wait:
 * the runner of a session, a custom runner, or a synchronous call.
 */
export type EffectProgram<Result> = Generator<EffectInstruction, Result, unknown>;

/** Dispatches inputs as one batch; returns whether they applied. An effect acts only if its intent did. */
export function* dispatch(...inputs: readonly AgentInput[]): EffectProgram<boolean> {
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
    inputs: readonly AgentInput[],
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
  const next = (value: unknown): void => {
    let step: IteratorResult<EffectInstruction, void>;
    try {
      step = run.next(value);
    } catch (error) {
      return driver.failed(error);
    }
    follow(step);
  };
  const fail = (error: unknown): void => {
    let step: IteratorResult<EffectInstruction, void>;
    try {
      step = run.throw(error);
    } catch (thrown) {
      return driver.failed(thrown);
    }
    follow(step);
  };
  const follow = (step: IteratorResult<EffectInstruction, void>): void => {
    if (step.done === true) driver.done();
    else if ("wait" in step.value) step.value.wait.then(next, fail);
    else driver.dispatch(step.value.dispatch, next, fail);
  };
  next(undefined);
}

/**
 * Runs a program to its end. `dispatchBatch` resolves with whether a batch applied. A rejection is thrown into the program,
 * which then dispatches its failure.
 */
export function runProgram(
  run: EffectProgram<void>,
  dispatchBatch: (...inputs: readonly AgentInput[]) => Promise<boolean>,
): Promise<void> {
  return new Promise((done, failed) => {
    driveProgram(run, {
      dispatch: (inputs, next, fail) => void dispatchBatch(...inputs).then(next, fail),
      done,
      failed,
    });
  });
}

type Settled =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

const settled = (promise: Promise<unknown>): Promise<Settled> =>
  promise.then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error }),
  );

/** The inputs of a program, one after the other. The caller must apply each before it requests the next. */
export async function* inputsOf(run: EffectProgram<void>): AsyncGenerator<AgentInput, void, undefined> {
  let step = run.next();
  while (step.done !== true) {
    if ("dispatch" in step.value) {
      yield* step.value.dispatch;
      step = run.next(true);
    } else {
      const waited = await settled(step.value.wait);
      step = waited.ok ? run.next(waited.value) : run.throw(waited.error);
    }
  }
}

/** Thrown when a program that must be synchronous has to wait. */
export class NotSynchronous extends Error {
  override readonly name = "NotSynchronous";
}

/** The inputs of a program that does not wait. Throws `NotSynchronous` for one that does. */
export function syncInputs(run: EffectProgram<void>): readonly AgentInput[] {
  const inputs: AgentInput[] = [];
  let step = run.next();
  while (step.done !== true) {
    if (!("dispatch" in step.value)) {
      // Its outcome is ignored.
      step.value.wait.catch(() => undefined);
      throw new NotSynchronous(
        "A synchronous run needs a model with `callSync` and tools that do not return promises.",
      );
    }
    inputs.push(...step.value.dispatch);
    step = run.next(true);
  }
  return inputs;
}
