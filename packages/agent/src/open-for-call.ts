import type { Clock, ToolContext, ToolOptions } from "@moora/agent-core-effects";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import type { Agent } from "./define-agent.ts";
import { callOwnerSuffix } from "./durable/call-owner.ts";
import type { DurableSession } from "./durable/durable-session.ts";
import { localProcess } from "./durable/local-process.ts";
import { SessionError } from "./durable/session-error.ts";
import { openSession, openUntil, type OpenOptions } from "./open-session.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import type { Session } from "./session/session.ts";
import { withOneReviewer, type SubAgents } from "./session/sub-agents.ts";
import { isShutdown } from "./session-of-call.ts";
import { agentToolSessionId, openedSessionId } from "./session-of-tool.ts";
import { startSession } from "./start-session.ts";
import { randomId } from "./user-message.ts";

/** What the session of a call is opened with. */
interface CallHost extends Pick<ToolOptions, "name" | "formerNames"> {
  readonly log?: EventLog;
  readonly clock: Clock;
  readonly onApproval: OnApproval | undefined;
  readonly caller: SubAgents | undefined;
}

/** Opens the session of a call: the one in the log, if there is a log. Rejects if the call is aborted before it is open. */
export async function openForCall<Answer>(
  given: Agent<Answer>,
  context: ToolContext,
  { name, formerNames, log, clock, onApproval, caller }: CallHost,
): Promise<Session<Answer>> {
  // Without a session above, no one answers in place of `onApproval`.
  const agent = caller === undefined ? withOneReviewer(given) : given;
  const host = {
    clock,
    ...("context" in context ? { context: context.context } : {}),
    ...(onApproval === undefined ? {} : { onApproval }),
    ...(caller === undefined ? {} : { onError: caller.report }),
    ...(caller?.onLog === undefined ? {} : { onLog: caller.onLog }),
  };
  if (log === undefined) return startSession(agent, host);
  const before =
    formerNames === undefined ? undefined : await openedSessionId({ name, formerNames, log }, context);
  const id = before ?? agentToolSessionId(name, context);
  return await openWhenFree(agent, context, { ...host, log, id, caller: context.idempotencyKey });
}

/** How long one attempt to open a session waits for another owner, in milliseconds. */
const busyWaitMs = 1_000;

/**
 * Opens the session of a call. An earlier attempt of the call is superseded: only the owner of the caller's session runs the tool, so
 * the session is taken over from it at once. Any other owner keeps the session until it has finished the task, closes the session,
 * or is known to have ended, or its lease ends.
 */
async function openWhenFree<Answer>(
  agent: Agent<Answer>,
  { signal, idempotencyKey }: ToolContext,
  host: OpenOptions,
): Promise<DurableSession<Answer>> {
  const suffix = callOwnerSuffix(idempotencyKey);
  const options: OpenOptions = {
    ...host,
    owner: `${localProcess()?.name ?? randomId("host")}${suffix}`,
    isOwnerGone: (owner) => owner.endsWith(suffix),
  };
  for (let waitMs: number | undefined; ; waitMs = busyWaitMs) {
    try {
      return await openUntil(agent, { ...options, ...(waitMs === undefined ? {} : { waitMs }) }, signal);
    } catch (error) {
      if (!(error instanceof SessionError && error.code === "SessionBusy")) throw error;
    }
    const finished = await finishedElsewhere(agent, signal, host);
    if (finished !== undefined) return finished;
    signal.throwIfAborted();
  }
}

/**
 * The session that another owner runs, if it has finished the task; otherwise undefined. An abort of the call cancels the session,
 * unless the host shuts down.
 */
async function finishedElsewhere<Answer>(
  agent: Agent<Answer>,
  signal: AbortSignal,
  options: OpenOptions,
): Promise<DurableSession<Answer> | undefined> {
  const { onApproval: _, ...host } = options;
  const session = await openSession(agent, { ...host, access: "post" });
  const hasTask = session.current().messages.some(({ role }) => role === "user");
  if (hasTask && !isLoopRunning(session.current())) return session;
  try {
    if (signal.aborted && !isShutdown(signal)) await session.cancel("The call was cancelled.");
  } finally {
    await session.close();
  }
  return undefined;
}
