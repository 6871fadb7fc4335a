import { errorText } from "@moora/agent-core-effects/internal";
import { AgentError, effectsAt } from "@moora/agent-core-effects";
import { isLoopRunning, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";

export interface BrokenLoopHost {
  readonly state: () => AgentState;
  readonly now: () => number;
  readonly dispatch: (input: AgentInput) => Promise<unknown>;
  readonly failRuns: (error: AgentError) => void;
  readonly stop: (error: AgentError) => void;
}

/**
 * Returns a function that ends a loop which cannot continue, because an exception left it without an effect. It rejects
 * the runs of the loop with the exception as their cause, and cancels the loop, so that the session accepts the next
 * message. If the cancel fails too, it stops the session, and every later call rejects with the same error.
 */
export function loopBreaker(host: BrokenLoopHost): (error: unknown) => void {
  let ending: Promise<void> | undefined;

  const endLoop = async (error: unknown): Promise<void> => {
    // The machine may be under construction, or in the middle of an input.
    await Promise.resolve();
    const reason = `The session could not continue: ${errorText(error)}`;
    const failure = new AgentError("AgentFailed", reason, {
      reason: "InternalError",
      state: host.state(),
      cause: error,
    });
    host.failRuns(failure);
    try {
      if (isLoopRunning(host.state()))
        await host.dispatch({ type: "re-act-cancelled", reason, timestamp: host.now() });
      effectsAt(host.state());
    } catch {
      host.stop(failure);
    }
  };

  return (error) => {
    ending ??= endLoop(error).finally(() => (ending = undefined));
  };
}
