import type { AgentInput } from "@moora/agent";
import { NotSynchronous, type EffectProgram } from "@moora/agent-core-effects";

/**
 * Runs the program of an effect to its end without waiting. `dispatch` returns whether a batch was applied. An intent is
 * applied before its work starts, so code inside the work sees it as started. Throws `NotSynchronous` for a promise, whose
 * result is ignored.
 */
export function runProgramSync(
  run: EffectProgram<void>,
  dispatch: (inputs: readonly AgentInput[]) => boolean,
): void {
  let step = run.next();
  while (step.done !== true) {
    if ("wait" in step.value) {
      step.value.wait.catch(() => undefined);
      throw new NotSynchronous("A synchronous run cannot wait for a promise.");
    }
    step = run.next(dispatch(step.value.dispatch));
  }
}
