import { systemClock } from "./clock.ts";
import { initialStateOf, type Agent } from "./define-agent.ts";
import type { AgentRun } from "./agent-run.ts";
import { createSession } from "./session/create-session.ts";
import type { StartOptions } from "./start-session.ts";
import { randomId, type UserContent } from "./user-message.ts";

export interface TaskOptions extends StartOptions {
  /** Aborting it cancels the task. */
  readonly signal?: AbortSignal;
}

/**
 * Runs one task from its message to its answer. Await it for the result, or go through its events. Where an approval is
 * needed and there is nobody to ask, neither `onApproval` nor anyone who goes through the events, it is rejected.
 */
export function runTask<Answer>(
  agent: Agent<Answer>,
  task: UserContent,
  options: TaskOptions = {},
): AgentRun<Answer> {
  const session = createSession(agent, {
    id: options.id ?? randomId("task"),
    initial: options.state ?? initialStateOf(agent),
    seq: 0,
    clock: options.clock ?? systemClock,
    newId: options.newId ?? randomId,
    runsEffects: true,
    onApproval: options.onApproval,
    rejectsUnasked: true,
  });
  const run = session.ask(task);
  const cancel = (): void => run.cancel("The signal was aborted.");
  if (options.signal?.aborted === true) cancel();
  options.signal?.addEventListener("abort", cancel, { once: true });
  session.onEvent((event) => {
    if (event.type !== "FinalAnswer" && event.type !== "Error") return;
    options.signal?.removeEventListener("abort", cancel);
    queueMicrotask(() => void session.close());
  });
  return run;
}
