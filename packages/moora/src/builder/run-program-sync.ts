import type { AgentInput } from "@moora/agent";
import { NotSynchronous, type Run } from "@moora/agent-core-effects";

/**
 * Drives an effect to its end without waiting; `dispatch` answers whether a batch applied. An intent is applied before
 * its act begins, so whoever looks or cancels from within an act finds it started. Throws `NotSynchronous` where
 * something has to be waited for; what that comes to is nobody's business any more.
 */
export function runProgramSync(run: Run<void>, dispatch: (inputs: readonly AgentInput[]) => boolean): void {
  let step = run.next();
  while (step.done !== true) {
    if ("wait" in step.value) {
      step.value.wait.catch(() => undefined);
      throw new NotSynchronous("Something has to be waited for, and this run does not wait.");
    }
    step = run.next(dispatch(step.value.tell));
  }
}
