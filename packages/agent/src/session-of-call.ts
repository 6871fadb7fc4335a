import {
  AgentError,
  toolReply,
  type Clock,
  type ToolContext,
  type ToolReply,
} from "@moora/agent-core-effects";
import { callHostOf } from "@moora/agent-core-effects/internal";
import { isPaused, traceOf, type AgentState } from "@moora/agent-core-state-machine";
import type { AgentRun } from "./agent-run.ts";
import type { Agent } from "./define-agent.ts";
import { loopEndOf, type LoopEnd } from "./session/loop-end.ts";
import type { Session } from "./session/session.ts";
import type { SubAgents } from "./session/sub-agents.ts";

/**
 * Shows the events and questions of a sub-agent in the session of its caller until the returned function is called. The time
 * of the call does not pass while a question waits for a person, or the session is paused.
 */
export function showIn(
  caller: SubAgents | undefined,
  context: ToolContext,
  session: Session<unknown>,
): () => void {
  let release: (() => void) | undefined;
  const follow = (): void => {
    if (session.questions().length === 0 && !isPaused(session.current())) {
      release?.();
      release = undefined;
    } else release ??= callHostOf(context)?.holdTimeout();
  };
  const detach = caller?.attach(context.toolCallId, session);
  const stops = [
    session.onInput(follow),
    session.onEvent(({ type }) => {
      if (type === "ApprovalRequested" || type === "SubAgentEvent") follow();
    }),
  ];
  return () => {
    detach?.();
    for (const stop of stops) stop();
    release?.();
  };
}

/** How the session of a call runs. */
export interface CallRun {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Called with the cancel of the session, which does not reject. */
  readonly onCancel: (canceled: Promise<unknown>) => void;
  /** Resolves when the session of the caller closes that of the call. */
  readonly closed: Promise<void>;
}

/** Runs the task of a new session, or continues the one of a restored session. */
export async function runToReply<Answer>(
  agent: Agent<Answer>,
  session: Session<Answer>,
  task: string,
  { signal, clock, onCancel, closed }: CallRun,
): Promise<ToolReply> {
  const stop = (): void => {
    if (isShutdown(signal)) void session.close();
    // If the cancel cannot be written, the session is only closed; the next attempt of this call continues it.
    else onCancel(session.cancel("The call was cancelled.").catch(() => session.close()));
  };
  try {
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const loopEnd = await endOf(agent, session, task, signal);
    if (signal.aborted && !isShutdown(signal)) await waitForUsage(session, clock, closed);
    return endToReply(loopEnd, session.current());
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** How long to wait for the usage of the calls of a canceled sub-agent, in milliseconds. */
const usageGraceMs = 1_000;

/** Waits until the usage of all calls is reported, for at most `usageGraceMs`, and not after the session was closed. */
async function waitForUsage(
  session: Pick<Session, "current" | "subscribe">,
  clock: Clock,
  closed: Promise<void>,
): Promise<void> {
  const reported = Promise.withResolvers<void>();
  const check = (): void => {
    if (session.current().unreportedUsage.length === 0) reported.resolve();
  };
  const unsubscribe = session.subscribe(check);
  const cancel = clock.after(usageGraceMs, reported.resolve);
  check();
  await Promise.race([reported.promise, closed]);
  cancel();
  unsubscribe();
}

/** Whether a call was aborted because its host shuts down: its work continues in the next process. */
export const isShutdown = ({ reason }: AbortSignal): boolean =>
  reason instanceof Error && reason.name === "ShutdownError";

/**
 * Sends the task to a new session, waits for the loop of a running one, or returns the recorded end of a finished one. A new
 * session whose call was aborted gets no task.
 */
async function endOf<Answer>(
  agent: Agent<Answer>,
  session: Session<Answer>,
  task: string,
  signal: AbortSignal,
): Promise<LoopEnd<Answer>> {
  const hasTask = session.current().messages.some(({ role }) => role === "user");
  if (!hasTask && signal.aborted)
    return new AgentError("Cancelled", "The call was cancelled before it began.");
  let run = hasTask ? session.running() : session.ask(task);
  while (run !== undefined) {
    const end = await runToEnd(run);
    // The session retries a failed write and continues the loop, so wait for the end of the loop.
    const isRetried = end instanceof AgentError && end.kind === "MemoryError" && !signal.aborted;
    run = isRetried ? session.running() : undefined;
    if (run === undefined) return end;
  }
  return await loopEndOf(agent, session.current(), traceOf([]));
}

const runToEnd = <Answer>(run: AgentRun<Answer>): Promise<LoopEnd<Answer>> =>
  run.then<LoopEnd<Answer>, AgentError>(
    (result) => result,
    (error: unknown) => {
      if (error instanceof AgentError) return error;
      throw error;
    },
  );

const endToReply = <Answer>(end: LoopEnd<Answer>, state: AgentState): ToolReply =>
  end instanceof AgentError
    ? failed(`${end.kind}: ${messageOf(end)}`, state)
    : toolReply({ content: end.text, usage: state.usage });

/** The message of an error for models and viewers. That of a session that was taken over names the host and the process. */
const messageOf = ({ reason, message }: AgentError): string =>
  reason === "StaleWriter" ? "Another process has taken over the session." : message;

/** The reply of a call that failed, with the usage of the sub-agent's session if there is one. */
export const failed = (content: string, state?: AgentState): ToolReply =>
  toolReply({ content, isError: true, ...(state === undefined ? {} : { usage: state.usage }) });
