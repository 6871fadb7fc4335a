import { checkIsAgent, checkIsState } from "./check-arguments.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { refusalOf } from "./decision-to-input.ts";
import type { Agent } from "./define-agent.ts";
import type { AgentRun } from "./agent-run.ts";
import { hostSession } from "./session/create-session.ts";
import { baseOf, startForms, type StartOptions } from "./start-session.ts";
import type { UserContent } from "./user-message.ts";

export interface TaskOptions extends StartOptions {
  /** Aborting it cancels the task. */
  readonly signal?: AbortSignal;
}

const taskForms: OptionForms<TaskOptions> = { ...startForms, signal: "signal" };

/**
 * Runs one task from its message to its answer. Await it for the result, or go through its events. Where an approval is
 * needed and there is no reviewer, neither `onApproval` nor an iteration over the events, it is rejected. Throws
 * `BuildError` for what is not an agent and for an unknown option; the run rejects with `AgentFailed` for a task that is
 * blank, or neither text nor an object with text.
 */
export function runTask<Answer>(
  agent: Agent<Answer>,
  task: UserContent,
  options: TaskOptions = {},
): AgentRun<Answer> {
  checkIsAgent("runTask", agent);
  checkOptions("runTask", options, taskForms);
  if (options.state !== undefined) checkIsState(options.state);
  const { onApproval } = options;
  const { session, ask } = hostSession(agent, {
    ...baseOf(agent, "task", options),
    onApproval,
    rejectsUnasked: true,
  });
  const control = ask(task, "task");
  const { run } = control;
  const cancel = (): void => run.cancel("The signal was aborted.");
  const { signal } = options;
  if (signal?.aborted === true) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  control.observe({
    ended() {
      signal?.removeEventListener("abort", cancel);
      // After the current listeners were notified.
      queueMicrotask(() => void session.close());
    },
    // The consumer of the events was the one to ask.
    unwatched() {
      if (onApproval !== undefined) return;
      for (const question of session.questions()) {
        void session
          .decide(question, refusalOf(question, "No reviewer is available."), "no-reviewer")
          .catch(() => undefined);
      }
    },
  });
  return run;
}
