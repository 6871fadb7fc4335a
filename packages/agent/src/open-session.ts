import type { Clock } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import { LogError, type EventLog, type LogNotice, type SessionLog } from "@moora/event-log";
import { checkIsAgent, checkOpenOptions } from "./check-arguments.ts";
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
import { restoreSession, type RestoredSession } from "./durable/restore.ts";
import { localProcess } from "./durable/local-process.ts";
import { SessionError } from "./durable/session-error.ts";
import { headerOf, headerToText } from "./durable/session-header.ts";
import type { ErrorListener } from "./error-reports.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import { parsed } from "./session/parse-or-refuse.ts";
import { randomId } from "./user-message.ts";

export interface OpenOptions {
  readonly log: EventLog;
  readonly id: string;
  /**
   * What this host does: `run` the agent, under a lease that only one holds; `post` messages, decisions and cancels to
   * its owner; or only `read` along. Default: `run`.
   */
  readonly access?: Access;
  /**
   * Names this host for others and in the log. Default: on Node the host name, the process id and the time at which the
   * process started, elsewhere a random name. A name that you give must be this host's alone, and the same after a
   * restart: an opening takes the session over from an owner of the same name at once, since that is itself before the
   * restart. The older owner of two gets `StaleWriter`; it does not take the session back by itself.
   */
  readonly owner?: string;
  readonly clock?: Clock;
  /** How long the right to run lasts without being renewed, in milliseconds above 0. Default: 30,000. */
  readonly leaseMs?: number;
  /** How long to wait for a session that another owner runs, in milliseconds above 0. Default: not at all. */
  readonly waitMs?: number;
  /**
   * Whether an owner is known to be dead: then its lease is not waited for. Processes of the same machine that have ended
   * are known to be dead without it.
   */
  readonly isOwnerGone?: (owner: string) => boolean | Promise<boolean>;
  readonly onApproval?: OnApproval;
  /** Hears the errors that no caller waits for, from the opening on; `session.onError` adds more listeners. */
  readonly onError?: ErrorListener;
  readonly newId?: (prefix: string) => string;
  /** Whether snapshots are kept for quick opening. Default: true. */
  readonly snapshots?: boolean;
  /** Called if a snapshot is not used because the log does not confirm it. Default: a warning of the process. */
  readonly onNotice?: (notice: LogNotice) => void;
}

/**
 * A session that lives in a log. What is acknowledged is durable; work that a crash interrupted is resumed by the replay
 * policy of its tool. Creates the session when there is none. Close it with `await using`, or with `session.close()` in a
 * `finally`, so that others can run it at once. A session that is not closed does not keep its process alive.
 *
 * Rejects with `SessionError` and `LogError`. `SessionBusy`: another owner runs it, and still did after `waitMs`; the error
 * has `owner` and `until`. `WrongAgent`: the log belongs to another agent. `InvalidOption`: an option is unknown or
 * of the wrong form, `log` is not a log, `access` is not one of the three, `leaseMs` or `waitMs` is not a positive finite number. A log that a newer release wrote opens to be read only.
 */
export async function openSession<Answer>(
  agent: Agent<Answer>,
  options: OpenOptions,
): Promise<DurableSession<Answer>> {
  checkIsAgent("openSession", agent);
  checkOpenOptions(options);
  const { clock = systemClock, access = "run" } = options;
  checkMs("leaseMs", options.leaseMs);
  checkMs("waitMs", options.waitMs);
  const waitUntil = clock.now() + (options.waitMs ?? 0);
  for (;;) {
    const handle = logHandle(options.log, await openLog(agent, options, access));
    const found = await restoreSession(handle.log, options.onNotice);
    checkAgent(agent, found);
    // A reader appends nothing after the records that a snapshot replaces.
    if (access !== "read" && found.snapshotSeq > 0) await handle.log.checkUpTo(found.snapshotSeq);
    const base = { ...options, clock, handle, found };
    if (found.stoppedBy !== undefined) return durableSession(agent, { ...base, access: "read" }).session;
    if (access !== "run") return durableSession(agent, { ...base, access }).session;
    const session = await run(agent, { ...base, waitUntil });
    if (session !== undefined) return session;
  }
}

function checkMs(name: string, ms: number | undefined): void {
  if (ms === undefined || (Number.isFinite(ms) && ms > 0)) return;
  throw new SessionError("InvalidOption", `${name} must be a positive number of milliseconds, got ${ms}.`);
}

interface RunOptions extends OpenOptions {
  readonly clock: Clock;
  readonly waitUntil: number;
  readonly handle: LogHandle;
  readonly found: RestoredSession;
}

/** Takes the lease and begins to run. Undefined when another owner took the session over in the meantime. */
async function run<Answer>(
  agent: Agent<Answer>,
  options: RunOptions,
): Promise<DurableSession<Answer> | undefined> {
  const { handle, clock } = options;
  const owner = options.owner ?? localProcess()?.name ?? randomId("host");
  let lost: SessionError | undefined;
  let opened: OpenedSession<Answer> | undefined;
  const onLost = (error: SessionError): void => {
    lost = error;
    opened?.loseOwnership(error);
  };
  const lease = await keepLease({
    handle,
    owner,
    takesOverOwnName: options.owner !== undefined,
    clock,
    ttlMs: options.leaseMs ?? 30_000,
    waitUntil: options.waitUntil,
    isOwnerGone: options.isOwnerGone,
    onLost,
    onError: (error) => opened?.failed(error),
  });
  try {
    const found = lease.hasWaited ? await restoreSession(handle.log) : options.found;
    if (found.stoppedBy !== undefined) {
      await lease.close();
      return undefined;
    }
    opened = durableSession(agent, { ...options, found, access: "run" });
    await opened.becomeOwner(lease, opening(agent, found, owner, clock));
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
    return await log.create(id, headerToText(headerOf(agent, newId("incarnation"))));
  } catch (error) {
    const raced = error instanceof LogError && error.code === "LogExists" ? await log.open(id) : undefined;
    if (raced === undefined) throw error;
    return raced;
  }
}

function checkAgent({ name }: Agent<unknown>, { header }: RestoredSession): void {
  if (header.agent.name !== name) {
    throw new SessionError(
      "WrongAgent",
      `This session belongs to the agent ${header.agent.name}, not to ${name}.`,
    );
  }
}

/** What a host says when it takes a session up: itself, and how its agent differs from the one that was here before. */
function opening(
  { version, config, tools }: Agent<unknown>,
  { state }: RestoredSession,
  owner: string,
  clock: Clock,
): readonly AgentInput[] {
  const timestamp = clock.now();
  const opened = parsed({ type: "session-opened", owner, agentVersion: version, timestamp });
  const same = isSameJson(state.config, config) && isSameJson(state.tools, tools);
  return same ? [opened] : [opened, parsed({ type: "agent-configured", config, tools, timestamp })];
}
