import { checkIsAgent, checkIsState } from "./check-arguments.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { refusalOf } from "./decision-to-input.ts";
import type { Agent } from "./define-agent.ts";
import type { AgentRun } from "./agent-run.ts";
import { hostSession } from "./session/create-session.ts";
import { baseOf, startForms, type StartOptions } from "./start-session.ts";
import type { UserContent } from "./user-message.ts";

/** The options of `runTask`: those of `startSession`, and a signal. */
export interface TaskOptions extends StartOptions {
  /** Cancels the task when it is aborted. Default: none. */
  readonly signal?: AbortSignal;
}

const taskForms: OptionForms<TaskOptions> = { ...startForms, signal: "signal" };

/**
 * Runs one task in a session of its own, in memory. Await the run for its result, or iterate over its events. A
 * question is rejected if there is no reviewer: neither `onApproval` nor an open iterator over the events. Throws
 * `BuildError` for an invalid agent and for an unknown or invalid option; the run rejects with `AgentFailed` for a task
 * that is blank, or neither a string nor an object with `content`.
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
    rejectsWithoutReviewer: true,
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
      // The listeners of this event must be notified first.
      queueMicrotask(() => void session.close());
    },
    // The reader of the events was the reviewer.
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
