import type { Clock, NeedsContext, Tool } from "@moora/agent-core-effects";
import { blobProblem } from "@moora/agent-core-effects/internal";
import { rulesVersion, type AgentInput } from "@moora/agent-core-state-machine";
import { LogError, type EventLog, type LeaseClaim, type LogNotice, type SessionLog } from "@moora/event-log";
import type { AgentEvent } from "./agent-event.ts";
import { checkIsAgent, checkOpenOptions } from "./check-arguments.ts";
import { systemClock } from "./clock.ts";
import type { Agent } from "./define-agent.ts";
import {
  durableSession,
  type Access,
  type DurableSession,
  type OpenedSession,
} from "./durable/durable-session.ts";
import { checkIsNotClosed } from "./durable/closed-session.ts";
import { engineOf } from "./durable/lease-holder.ts";
import { keepLease } from "./durable/lease-keeper.ts";
import { logHandle, type LogHandle } from "./durable/log-handle.ts";
import { restoreSession, type RestoredSession } from "./durable/restore.ts";
import { localProcess } from "./durable/local-process.ts";
import { runByEngineError, SessionError } from "./durable/session-error.ts";
import { headerOf, headerToText, identityOf } from "./durable/session-header.ts";
import type { ErrorListener } from "./error-reports.ts";
import { Logger, type LogListener } from "./logger.ts";
import { releaseInputs } from "./host/folded-session.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import { parseOrRefuse } from "./session/parse-or-refuse.ts";
import { filesOf } from "./session/files-of.ts";
import type { BlobOptions } from "./session/session-files.ts";
import { contextProblem, type OpeningContext } from "./session-context.ts";
import { checkLogsOfCalls } from "./session-of-tool.ts";
import { memberAt, notAMember } from "./team/member-at.ts";
import { randomId } from "./user-message.ts";

/** The options of `openSession`. */
export interface OpenOptions {
  /** The log that has the session, or in which it is created. */
  readonly log: EventLog;
  /** The id of the session in the log. */
  readonly id: string;
  /**
   * What this process may do: `run` the agent as the owner of the session, `post` to its owner all that a session accepts from
   * outside but `configure` and `note`, or only `read`. Default: `run`.
   */
  readonly access?: Access;
  /**
   * The name of this process in the lease and in the log. Default: on Node the host name, the process id and the start
   * time of the process, otherwise a random name. A name of your own must be unique among running processes and the
   * same after a restart, because an opening takes the session over from an owner of the same name at once. The older
   * of two owners with one name gets `StaleWriter` and does not take the session back by itself.
   */
  readonly owner?: string;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** How long the lease lasts if it is not renewed, in milliseconds above 0. Default: 30,000. */
  readonly leaseMs?: number;
  /** How long to wait for a session that another owner runs, in milliseconds above 0. Default: no waiting. */
  readonly waitMs?: number;
  /**
   * Whether the process of an owner has ended, so that its lease need not expire first. Ended processes of the same
   * machine are recognized without it. Default: false for all others.
   */
  readonly isOwnerGone?: (owner: string) => boolean | Promise<boolean>;
  /**
   * What the tools and handlers of the agent need of this process, such as a database connection: they read it as
   * `context.context`. Must be an object. The log does not contain it; each opening gives its own. Required to run an agent that
   * needs it (`defineContext`). Default: none.
   */
  readonly context?: unknown;
  /**
   * Stores the bytes of large files outside the records: of messages, of results of tools, and of what models make. Records have
   * their URLs, and requests to the model have the bytes again. Needs a log with a store of its own, or `store`. Default: files
   * stay in the records.
   */
  readonly blobs?: BlobOptions;
  /** Answers questions at once. Default: questions wait for `decide`. */
  readonly onApproval?: OnApproval;
  /**
   * Receives the events from the opening on, also those of work that resumes before `openSession` resolves;
   * `session.onEvent` adds more listeners. Default: none.
   */
  readonly onEvent?: (event: AgentEvent<unknown>) => void;
  /**
   * Receives the errors that no caller waits for, from the opening on; `session.onError` adds more listeners. Default:
   * `console.error`.
   */
  readonly onError?: ErrorListener;
  /**
   * Receives log entries: what a caller does not see as an error, such as a retried append or a lost lease. Default: none; the
   * session logs nothing.
   */
  readonly onLog?: LogListener;
  /** Makes unique ids, each with the given prefix; for tests that need the same ids each time. Default: random ids. */
  readonly newId?: (prefix: string) => string;
  /**
   * The user to whom a new session belongs. Written to the header when the session is created, and not changed by later
   * openings; `readHeader` returns it. Default: none.
   */
  readonly user?: string;
  /**
   * The idempotency key of the call of a tool for which a new session is opened, as `agentTool` gives it: the session is removed
   * and archived together with the one that calls it. Written to the header when the session is created. Default: none.
   */
  readonly caller?: string;
  /** Whether snapshots are saved, which make later openings faster. Default: true. */
  readonly snapshots?: boolean;
  /** Called if a snapshot is not used because the log does not confirm it. Default: a process warning. */
  readonly onNotice?: (notice: LogNotice) => void;
}

/**
 * Opens a session in a log, and creates it if the log has none of this id. Acknowledged inputs are durable; interrupted
 * work resumes by the replay policy of its tool. Close the session with `await using`, or with `session.close()` in a
 * `finally`, so that other processes can run it at once. An open session does not keep its process alive.
 *
 * Throws `BuildError` for an invalid agent, and rejects with `SessionError` and `LogError`. `SessionBusy`: another
 * owner still runs the session after `waitMs`; the error has `owner` and `until`. A log with an owner of all sessions creates the session
 * first; a session whose lease is that of an engine opens with the other accesses as well, and its posts reject with `RunByEngine` unless
 * the log is that of the engine. `MoveUnfinished`, with any access: a move of the session to or from this log, or the fork or import that
 * writes it, has not ended. `SessionIncomplete`, with any access: that fork or import was interrupted. `SessionUnknown`: the log has no
 * session of this id and `access` is not `run`. `WrongAgent`: the session belongs to another agent. `InvalidOption`: an
 * option is unknown or of the wrong form, `log` is not a log, `id` is missing, `context` is missing for an agent that needs one, `access` is not one of the three, `leaseMs` or
 * `waitMs` is not a positive finite number. A session that a newer release wrote opens with access `read`. `DataRefused`: the session has
 * data that the agent cannot use.
 */
export async function openSession<Answer, Data, Context = unknown, Tools extends Tool = Tool>(
  agent: Agent<Answer, Data, Tools> & NeedsContext<Context>,
  options: OpenOptions & OpeningContext<NoInfer<Context>>,
): Promise<DurableSession<Answer, Data, Tools>> {
  checkIsAgent("openSession", agent);
  checkOpenOptions(options);
  // The agent determines the types of the data and the tools.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await openUntil(agent, options)) as unknown as DurableSession<Answer, Data, Tools>;
}

/** Opens a session as `openSession` does. The signal ends the wait for another owner, as the end of `waitMs` does. */
export async function openUntil<Answer>(
  agent: Agent<Answer>,
  options: OpenOptions,
  signal?: AbortSignal,
): Promise<DurableSession<Answer>> {
  const { access = "run", context } = options;
  const { owner } = options.log;
  // The owner of all sessions of a log gives the context.
  const problem =
    access === "run" && owner === undefined ? contextProblem("openSession", agent, context) : undefined;
  const problems = [problem, blobProblem("openSession", options.blobs, options.log.blobs)];
  for (const found of problems) if (found !== undefined) throw new SessionError("InvalidOption", found);
  const { clock = systemClock } = options;
  checkMs("leaseMs", options.leaseMs);
  checkMs("waitMs", options.waitMs);
  const waitUntil = clock.now() + (options.waitMs ?? 0);
  for (;;) {
    const handle = logHandle(options.log, await openLog(agent, options, access));
    if (access === "run" && owner !== undefined) throw ownedError(options.id, owner);
    const found = await restoreChecked(handle, access, options);
    checkAgent(agent, found);
    const files = filesOf(options.blobs, options.log.blobs);
    const base = { ...options, clock, handle, found, files };
    // The claim of an opening that runs the session is refused by itself.
    if (found.stoppedBy !== undefined || access !== "run") {
      const lease = await checkIsNotClosed(handle.log);
      if (found.stoppedBy !== undefined) return durableSession(agent, { ...base, access: "read" }).session;
      const engine = owner === undefined && lease !== undefined ? engineOf(lease.owner) : undefined;
      return durableSession(agent, { ...base, access, postError: runByEngineError(options.id, engine) })
        .session;
    }
    const session = await run(agent, { ...base, waitUntil, signal });
    if (session !== undefined) return session;
  }
}

/** The session of a log. Only a process that appends needs to check the records before the snapshot. */
async function restoreChecked(
  { log }: LogHandle,
  access: Access,
  { onNotice }: OpenOptions,
): Promise<RestoredSession> {
  const found = await restoreSession(log, onNotice);
  if (access !== "read" && found.snapshotSeq > 0) await log.checkUpTo(found.snapshotSeq);
  return found;
}

function checkMs(name: string, ms: number | undefined): void {
  if (ms === undefined || (Number.isFinite(ms) && ms > 0)) return;
  throw new SessionError("InvalidOption", `${name} must be a positive number of milliseconds, got ${ms}.`);
}

interface RunOptions extends OpenOptions {
  readonly clock: Clock;
  readonly waitUntil: number;
  readonly signal: AbortSignal | undefined;
  readonly handle: LogHandle;
  readonly found: RestoredSession;
}

/** Takes the lease and runs the session. Returns undefined if another owner took the session over meanwhile. */
async function run<Answer>(
  agent: Agent<Answer>,
  options: RunOptions,
): Promise<DurableSession<Answer> | undefined> {
  const { handle, clock } = options;
  const owner = options.owner ?? localProcess()?.name ?? randomId("host");
  let lostOwnership: SessionError | undefined;
  let opened: OpenedSession<Answer> | undefined;
  const onLost = (error: SessionError): void => {
    lostOwnership = error;
    opened?.loseOwnership(error);
  };
  const lease = await keepLease({
    handle,
    owner,
    takesOverOwnName: options.owner !== undefined,
    clock,
    ttlMs: options.leaseMs ?? 30_000,
    waitUntil: options.waitUntil,
    signal: options.signal,
    isOwnerGone: options.isOwnerGone,
    onLost,
    onError: (error) => opened?.failed(error),
    logger: new Logger(options.id, options.onLog),
  });
  try {
    const found = lease.mayBeStale ? await restoreChecked(handle, "run", options) : options.found;
    if (found.stoppedBy !== undefined) {
      await lease.close();
      return undefined;
    }
    // Before the session is created: what these throw must release the lease.
    const identity = identityOf(options.id, found.header);
    await checkLogsOfCalls(agent, { log: options.log, identity, state: found.state });
    const inputs = openingInputs(agent, found, owner, clock);
    opened = durableSession(agent, { ...options, found, access: "run" });
    await opened.becomeOwner(lease, inputs);
    if (lostOwnership !== undefined) throw lostOwnership;
    return opened.session;
  } catch (error) {
    // The first error is the reason. A log that has failed once often fails to release the lease as well.
    await (opened?.session ?? lease)
      .close()
      .catch((closeError: unknown) => options.onError?.({ source: "log", error: closeError }));
    const reason = lostOwnership ?? error;
    if (reason instanceof SessionError && reason.code === "StaleWriter") return undefined;
    throw error;
  }
}

const ownedError = (id: string, owner: string): SessionError =>
  new SessionError(
    "SessionBusy",
    `The session ${id} is run by ${owner}, as all sessions of its log. Open it with access "post" or "read".`,
    { owner },
  );

/** Opens the log of a session, and creates it for access `run` if there is none. Rejects with `SessionUnknown` otherwise. */
export async function openLog(
  agent: Agent<unknown>,
  options: Pick<OpenOptions, "log" | "id" | "user" | "caller" | "newId"> & {
    readonly claim?: LeaseClaim | undefined;
  },
  access: Access,
): Promise<SessionLog> {
  const { log, id, user, caller, newId = randomId, claim } = options;
  const found = await log.open(id);
  if (found !== undefined) return found;
  if (access !== "run") throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  try {
    const about = { ...(user === undefined ? {} : { user }), ...(caller === undefined ? {} : { caller }) };
    return await log.create(id, headerToText(headerOf(agent, newId("incarnation"), about)), claim);
  } catch (error) {
    const concurrent =
      error instanceof LogError && error.code === "LogExists" ? await log.open(id) : undefined;
    if (concurrent === undefined) throw error;
    return concurrent;
  }
}

/** Throws `WrongAgent` for the session of another agent. */
export function checkAgent({ name }: Agent<unknown>, { header }: RestoredSession): void {
  if (header.agent.name !== name) {
    throw new SessionError(
      "WrongAgent",
      `This session belongs to the agent "${header.agent.name}", not to "${name}".`,
    );
  }
}

/** The inputs of an opening: the owner, and the configuration, tools and data version of the agent if they have changed. */
export function openingInputs(
  agent: Agent<unknown>,
  { state }: Pick<RestoredSession, "state">,
  owner: string,
  clock: Clock,
): readonly AgentInput[] {
  if (memberAt(agent, state) === undefined)
    throw new SessionError("WrongAgent", notAMember(agent, state.activeAgent ?? ""));
  const timestamp = clock.now();
  // Also without usage that is awaited now: a cancel may be posted before this record.
  const spends = Object.values(state.tools).some((tool) => tool.spends !== undefined);
  const opened = {
    type: "session-opened",
    owner,
    agentVersion: agent.version,
    rules: rulesVersion,
    ...(spends ? { reportsUsage: true } : {}),
    timestamp,
  };
  return [opened, ...releaseInputs(agent, state, timestamp)].map(parseOrRefuse);
}
