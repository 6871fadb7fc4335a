import type { NeedsContext } from "@moora/agent-core-effects";
import { errorText } from "@moora/agent-core-effects/internal";
import { noReviewer } from "@moora/agent-core-state-machine/internal";
import { checkIsAgent, checkIsState } from "./check-arguments.ts";
import { checkOptions, isObject, type OptionForms } from "./check-options.ts";
import type { Agent } from "./define-agent.ts";
import type { AgentRun } from "./agent-run.ts";
import { refusalWithoutReviewer } from "./no-reviewer.ts";
import { hostSession } from "./session/create-session.ts";
import { baseOf, startForms, type StartOptions } from "./start-session.ts";
import { checkContext, type OptionsParameter } from "./session-context.ts";
import type { UserContent } from "./user-message.ts";

/** The options of `runTask`: those of `startSession`, and a signal. */
export interface TaskOptions extends StartOptions {
  /** Cancels the task when it is aborted, with the reason of the abort if that is a text or an error. Default: none. */
  readonly signal?: AbortSignal;
}

const taskForms: OptionForms<TaskOptions> = { ...startForms, signal: "signal" };

/**
 * Runs one task in a session of its own, in memory. Await the run for its result, or iterate over its events. A
 * question is rejected if there is no reviewer: neither `onApproval` nor an open iterator over the events. Throws
 * `BuildError` for an invalid agent, for an unknown or invalid option, and without a `context` that the agent needs; the run rejects with `AgentFailed` for a task
 * that is blank, or neither a string nor an object with `content`.
 */
export function runTask<Answer, Context = unknown>(
  agent: Agent<Answer> & NeedsContext<Context>,
  task: UserContent,
  ...[given]: OptionsParameter<TaskOptions, Context>
): AgentRun<Answer> {
  checkIsAgent("runTask", agent);
  const options: TaskOptions = given ?? {};
  checkOptions("runTask", options, taskForms);
  checkContext("runTask", agent, options.context);
  if (options.state !== undefined) checkIsState(options.state);
  const { onApproval } = options;
  const { session, ask } = hostSession(agent, {
    ...baseOf(agent, "task", options),
    onApproval,
    rejectsWithoutReviewer: true,
  });
  const control = ask(task, "task");
  const { run } = control;
  const { signal } = options;
  const cancel = (): void => run.cancel(abortText(signal?.reason));
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
        const refusal = refusalWithoutReviewer(question);
        void session.decide(question, refusal, noReviewer.by).catch(() => undefined);
      }
    },
  });
  return run;
}

/** The text of the reason of a signal; a general one for `abort()` without a reason, and for a reason without a text. */
function abortText(reason: unknown): string {
  const isGiven = isObject(reason) ? reason["name"] !== "AbortError" : isText(reason);
  return isGiven ? errorText(reason) : "The signal was aborted.";
}

const isText = (reason: unknown): boolean => typeof reason === "string" && reason.trim() !== "";
