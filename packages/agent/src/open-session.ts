import type { Clock } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import { LogError, type EventLog, type SessionLog } from "@moora/event-log";
import { systemClock } from "./clock.ts";
import type { Agent } from "./define-agent.ts";
import { isSameJson } from "./durable/canonical-json.ts";
import {
  durableSession,
  type Access,
  type DurableSession,
  type OpenedSession,
} from "./durable/durable-session.ts";
import { keepLease } from "./durable/lease-keeper.ts";
import { logHandle, type LogHandle } from "./durable/log-handle.ts";
import { restored, type Restored } from "./durable/restored.ts";
import { SessionError } from "./durable/session-error.ts";
import { headerOf, headerToText } from "./durable/session-header.ts";
import type { OnApproval } from "./session/asking.ts";
import { parsed } from "./session/parsed.ts";
import { randomId } from "./user-message.ts";

export interface OpenOptions {
  readonly log: EventLog;
  readonly id: string;
  /**
   * What this host does: `run` the agent, under a lease that only one holds; `post` messages, decisions and cancels to
   * whoever runs it; or only `read` along. Default: `run`.
   */
  readonly access?: Access;
  /** Names this host; default: a random name. One who opens with the same name takes over from itself. */
  readonly owner?: string;
  readonly clock?: Clock;
  /** How long the right to run lasts without a sign of life, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number;
  /** Whether an owner is known to be dead: then nobody waits for the end of its lease. */
  readonly isOwnerGone?: (owner: string) => boolean | Promise<boolean>;
  readonly onApproval?: OnApproval;
  readonly newId?: (prefix: string) => string;
  /** Whether snapshots are kept for quick opening. Default: true. */
  readonly snapshots?: boolean;
}

/**
 * A session that lives in a log. What is acknowledged is durable; what a crash broke off is taken up by the replay policy
 * of its tool. Creates the session when there is none. Rejects with `SessionError` (`SessionBusy`, `WrongAgent`) and
 * `LogError`; a log that a newer release wrote opens to be read only.
 */
export async function openSession<Answer>(
  agent: Agent<Answer>,
  options: OpenOptions,
): Promise<DurableSession<Answer>> {
  const { clock = systemClock, owner = randomId("host"), access = "run" } = options;
  for (;;) {
    const handle = logHandle(options.log, await openLog(agent, options, access));
    const found = await restored(handle.log);
    checkAgent(agent, found);
    const base = { ...options, clock, handle, found };
    if (found.unreadable !== undefined) return durableSession(agent, { ...base, access: "read" }).session;
    if (access !== "run") return durableSession(agent, { ...base, access }).session;
    const session = await run(agent, { ...base, owner });
    if (session !== undefined) return session;
  }
}

interface RunOptions extends OpenOptions {
  readonly clock: Clock;
  readonly owner: string;
  readonly handle: LogHandle;
  readonly found: Restored;
}

/** Takes the lease and begins to run. Undefined when somebody else took the session up in the meantime. */
async function run<Answer>(
  agent: Agent<Answer>,
  options: RunOptions,
): Promise<DurableSession<Answer> | undefined> {
  const { handle, owner, clock, leaseMs = 30_000, isOwnerGone, found } = options;
  const first = opening(agent, found, owner, clock);
  let lost: SessionError | undefined;
  let opened: OpenedSession<Answer> | undefined;
  const onLost = (error: SessionError): void => {
    lost = error;
    opened?.lose(error);
  };
  const lease = await keepLease({ handle, owner, clock, ttlMs: leaseMs, isOwnerGone, onLost });
  try {
    opened = durableSession(agent, { ...options, access: "run" });
    await opened.takeOver(lease, first);
    if (lost !== undefined) throw lost;
    return opened.session;
  } catch (error) {
    await (opened?.session ?? lease).close();
    const reason = lost ?? error;
    if (reason instanceof SessionError && reason.code === "StaleWriter") return undefined;
    throw error;
  }
}

async function openLog(agent: Agent<unknown>, options: OpenOptions, access: Access): Promise<SessionLog> {
  const { log, id, newId = randomId } = options;
  const found = await log.open(id);
  if (found !== undefined) return found;
  if (access !== "run") throw new SessionError("SessionUnknown", `There is no session ${id}.`);
  try {
    return await log.create(id, headerToText(headerOf(agent, newId("life"))));
  } catch (error) {
    const raced = error instanceof LogError && error.code === "LogExists" ? await log.open(id) : undefined;
    if (raced === undefined) throw error;
    return raced;
  }
}

function checkAgent({ name }: Agent<unknown>, { header }: Restored): void {
  if (header.agent.name !== name)
    throw new SessionError(
      "WrongAgent",
      `This session belongs to the agent ${header.agent.name}, not to ${name}.`,
    );
}

/** What a host says when it takes a session up: itself, and how its agent differs from the one that was here before. */
function opening(
  { config, tools }: Agent<unknown>,
  { state }: Restored,
  owner: string,
  clock: Clock,
): readonly AgentInput[] {
  const timestamp = clock.now();
  const opened = parsed({ type: "session-opened", owner, timestamp });
  const same = isSameJson(state.config, config) && isSameJson(state.tools, tools);
  return same ? [opened] : [opened, parsed({ type: "agent-configured", config, tools, timestamp })];
}
