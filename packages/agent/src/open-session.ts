import type { Clock } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import { LogError, type EventLog, type SessionLog } from "@moora/event-log";
import { systemClock } from "./clock.ts";
import type { Agent } from "./define-agent.ts";
import { durableSession, type DurableSession } from "./durable/durable-session.ts";
import { keepLease, type LeaseKeeper } from "./durable/lease-keeper.ts";
import { restored, type Restored } from "./durable/restored.ts";
import { SessionError } from "./durable/session-error.ts";
import { headerOf, headerToText } from "./durable/session-header.ts";
import type { OnApproval } from "./session/asking.ts";
import { randomId } from "./user-message.ts";

export interface OpenOptions {
  readonly log: EventLog;
  readonly id: string;
  /**
   * What this host does: `run` the agent, under a lease that only one holds; `post` messages, decisions and cancels to
   * whoever runs it; or only `read` along. Default: `run`.
   */
  readonly access?: "run" | "post" | "read";
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
  const log = await openLog(agent, options, access);
  const lease = access === "run" ? await leaseFor(log, owner, clock, options) : undefined;
  try {
    const found = await restored(log);
    checkAgent(agent, found);
    if (found.unreadable !== undefined) await lease?.keeper.stop();
    const may = found.unreadable === undefined ? access : "read";
    const session = durableSession(agent, { ...options, clock, owner, log, found, access: may });
    if (lease !== undefined && may === "run") {
      session.holdLease(lease.keeper);
      lease.whenLost(session.lose);
      await session.takeOver(opening(agent, found, owner, clock));
    }
    return session.session;
  } catch (error) {
    await lease?.keeper.stop();
    throw error;
  }
}

async function openLog(agent: Agent<unknown>, { log, id }: OpenOptions, access: string): Promise<SessionLog> {
  const found = await log.open(id);
  if (found !== undefined) return found;
  if (access !== "run") throw new SessionError("SessionUnknown", `There is no session ${id}.`);
  try {
    return await log.create(id, headerToText(headerOf(agent)));
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
  agent: Agent<unknown>,
  { state }: Restored,
  owner: string,
  clock: Clock,
): readonly AgentInput[] {
  const timestamp = clock.now();
  const { config, tools } = agent;
  const opened: AgentInput = { type: "session-opened", owner, timestamp };
  const same = JSON.stringify([state.config, state.tools]) === JSON.stringify([config, tools]);
  return same ? [opened] : [opened, { type: "agent-configured", config, tools, timestamp }];
}

interface HeldLease {
  readonly keeper: LeaseKeeper;
  whenLost(callback: (error: SessionError) => void): void;
}

async function leaseFor(
  log: SessionLog,
  owner: string,
  clock: Clock,
  options: OpenOptions,
): Promise<HeldLease> {
  const { leaseMs = 30_000, isOwnerGone } = options;
  let lost: SessionError | undefined;
  let tell = (error: SessionError): void => {
    lost = error;
  };
  const keeper = await keepLease({
    log,
    owner,
    clock,
    ttlMs: leaseMs,
    isOwnerGone,
    onLost: (error) => tell(error),
  });
  return {
    keeper,
    whenLost(callback) {
      tell = callback;
      if (lost !== undefined) callback(lost);
    },
  };
}
