import type { AgentInput } from "@moora/agent-core-state-machine";
import { isPromise } from "../is-promise.ts";

/** One step of an effect under way: inputs to be told, or a value of the world to wait for. */
export type EffectInstruction =
  | { readonly tell: readonly AgentInput[] }
  | { readonly wait: Promise<unknown> };

/**
 * An effect as a program of steps. What it does is written once; whoever drives it decides how inputs are told and
 * whether there is time to wait: the session's runner, a runner of one's own, or a call that has to be synchronous.
 */
export type Run<Result> = Generator<EffectInstruction, Result, unknown>;

/** Tells inputs as one batch; answers whether they applied. An effect acts only if its intent did. */
export function* tell(...inputs: readonly AgentInput[]): Run<boolean> {
  return (yield { tell: inputs }) === true;
}

/** The value, at once where it is there at once. Drivers resume a wait with what its promise came to. */
export function* waitFor<Value>(value: Value | Promise<Value>): Run<Value> {
  // Whoever drives it resumes with what the promise came to.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return isPromise(value) ? ((yield { wait: value }) as Value) : value;
}

/**
 * Drives a run to its end. `dispatch` returns whether a batch applied; a batch that it rejects fails the run, which
 * dispatches its failure instead.
 */
export async function runProgram(
  run: Run<void>,
  dispatch: (...inputs: readonly AgentInput[]) => Promise<boolean>,
): Promise<void> {
  let step = run.next();
  while (step.done !== true) {
    const { value } = step;
    const waited = await settled("tell" in value ? dispatch(...value.tell) : value.wait);
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

/** The inputs of a run one after the other; whoever takes the next one has applied the last. */
export async function* inputsOf(run: Run<void>): AsyncGenerator<AgentInput, void, undefined> {
  let step = run.next();
  while (step.done !== true) {
    if ("tell" in step.value) {
      yield* step.value.tell;
      step = run.next(true);
    } else {
      const waited = await settled(step.value.wait);
      step = waited.ok ? run.next(waited.value) : run.throw(waited.error);
    }
  }
}

/** Thrown where something has to be waited for in a run that has no time. */
export class NotSynchronous extends Error {
  override readonly name = "NotSynchronous";
}

/** The inputs of a run that never waits. Throws `NotSynchronous` for one that does. */
export function syncInputs(run: Run<void>): readonly AgentInput[] {
  const inputs: AgentInput[] = [];
  let step = run.next();
  while (step.done !== true) {
    if (!("tell" in step.value)) {
      // What it comes to is nobody's business any more.
      step.value.wait.catch(() => undefined);
      throw new NotSynchronous(
        "A synchronous run needs a model with `callSync` and tools that return no promise.",
      );
    }
    inputs.push(...step.value.tell);
    step = run.next(true);
  }
  return inputs;
}
