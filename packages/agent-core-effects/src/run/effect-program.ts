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

/**
 * Runs a program to its end. `dispatchBatch` resolves with whether a batch applied. A rejection is thrown into the program,
 * which then dispatches its failure.
 */
export async function runProgram(
  run: EffectProgram<void>,
  dispatchBatch: (...inputs: readonly AgentInput[]) => Promise<boolean>,
): Promise<void> {
  let step = run.next();
  while (step.done !== true) {
    const { value } = step;
    const waited = await settled("dispatch" in value ? dispatchBatch(...value.dispatch) : value.wait);
    step = waited.ok ? run.next(waited.value) : run.throw(waited.error);
  }
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
