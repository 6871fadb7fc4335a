import { AgentError } from "@moora/agent-core-effects";
import type { AgentInput } from "@moora/agent-core-state-machine";
import type { LogError } from "@moora/event-log";
import { andThen } from "@moora/event-log/store";
import type { Agent } from "../define-agent.ts";
import { Logger } from "../logger.ts";
import { cancelAbandoned } from "../session/cancel-abandoned.ts";
import { hostSession, type HostedSession, type SessionBase } from "../session/create-session.ts";
import type { InputLedger, MachineHooks } from "../session/machine.ts";
import { nextWorkAt } from "../session/next-work-at.ts";
import { PendingInput } from "../session/pending-input.ts";
import type { Session } from "../session/session.ts";
import { randomId } from "../user-message.ts";
import { callerBase } from "./call-owner.ts";
import type { DurableOptions, SessionInfo } from "./durable-session.ts";
import { gracefulClose } from "./graceful-close.ts";
import { hasEnded, type LeaseKeeper } from "./lease-keeper.ts";
import { logAppendRetry, logClosed, logLost, logOpened, writerLogs } from "./lifecycle-logs.ts";
import { isFinal, lostError, unwritableError } from "./log-failures.ts";
import { LogFollower } from "./log-follower.ts";
import { LogWriter } from "./log-writer.ts";
import { CommitRetries } from "./commit-retries.ts";
import { SessionError } from "./session-error.ts";
import { identityOf } from "./session-header.ts";
import { SessionLifecycle } from "./session-lifecycle.ts";
import { snapshotKeeper, type SnapshotKeeper } from "./snapshot-keeper.ts";

/** Runs a session on its log: writes to the log, follows it, and releases the session when it is closed or lost. */
export class DurableHost<Answer> {
  readonly #agent: Agent<Answer>;
  readonly #options: DurableOptions;
  readonly #logger: Logger;
  readonly #writer: LogWriter;
  readonly #retries: CommitRetries;
  readonly #lifecycle: SessionLifecycle;
  readonly #hosted: HostedSession<Answer>;
  /** Undefined if this session saves no snapshots. */
  readonly #snapshots: SnapshotKeeper | undefined;
  readonly #follower: LogFollower;
  readonly #close: (graceMs: number) => Promise<void>;
  #lease: LeaseKeeper | undefined;
  /** The cancels of sub-agents that the opening has begun. `close` waits for them. */
  #cancels: Promise<void> | undefined;
  #lastError: unknown;
  /** The errors of the commits that failed while inputs of the log are applied; undefined at other times. */
  #failedCommits: Set<unknown> | undefined;

  constructor(agent: Agent<Answer>, options: DurableOptions) {
    const { handle, found, access, clock } = options;
    this.#agent = agent;
    this.#options = options;
    this.#lastError = found.stoppedBy;
    this.#logger = new Logger(handle.log.id, options.onLog);
    const logs = writerLogs(this.#logger);
    this.#writer = new LogWriter({ handle, start: found.head, runsEffects: access === "run", ...logs });
    this.#lifecycle = new SessionLifecycle(access === "run" ? "opening" : "open");
    this.#retries = new CommitRetries({
      clock,
      // The inputs of effects stay at the front of the queue: dispatching an empty batch commits them again.
      again: () => this.#hosted.dispatch(),
      onLongFailure: () => this.#hosted.failRuns(unwritableError(this.#lastError, this.#hosted.state())),
    });
    this.#hosted = hostSession(agent, this.#sessionBase());
    this.#snapshots = access === "run" && options.snapshots !== false ? this.#newSnapshotKeeper() : undefined;
    this.#follower = new LogFollower({ handle, clock, pull: () => this.#pull() });
    this.#close = gracefulClose({
      clock,
      onBegin: () => this.#lifecycle.drain(),
      drained: () => this.#hosted.drained(),
      shutDown: () => this.#shutDown(),
    });
    // Another process may have appended since the log was read. The first append of an owner finds that out by itself.
    if (access === "run") return;
    logOpened(this.#logger, this.info());
    void this.refresh();
  }

  get session(): Session<Answer> {
    return this.#hosted.session;
  }

  info(): SessionInfo {
    const { handle, access, found } = this.#options;
    return {
      id: handle.log.id,
      access: this.#lifecycle.lost === undefined ? access : "read",
      owner: this.#hosted.state().owner,
      seq: this.#writer.head.seq,
      leaseUntil: this.#lease?.until,
      lastError: this.#lastError,
      snapshotIgnored: found.snapshotIgnored,
    };
  }

  /** Applies the new records of the log. */
  refresh(): Promise<void> {
    return this.#follower.refresh();
  }

  /** Starts running the session as its owner. The first input must be the `session-opened` of this host. */
  async becomeOwner(lease: LeaseKeeper, inputs: readonly AgentInput[]): Promise<void> {
    this.#lease = lease;
    await this.#hosted.dispatch(...inputs.map((input) => new PendingInput(input)));
    if (!this.#lifecycle.isLive) return;
    logOpened(this.#logger, this.info());
    const { handle, found, clock } = this.#options;
    const identity = identityOf(handle.log.id, found.header);
    const caller = { agent: this.#agent, state: this.#hosted.state(), identity };
    const isLive = (): boolean => this.#lifecycle.isLive;
    this.#cancels = cancelAbandoned(caller, { hosted: this.#hosted, clock, isLive });
  }

  reportListenerError(error: unknown): void {
    this.#hosted.report({ source: "listener", error });
  }

  /** Reports an error of the log or of the lease after which the session continues. */
  reportLogError(error: unknown): void {
    this.#lastError = error;
    this.#hosted.report({ source: "log", error });
  }

  /** Ends the session after it can no longer follow its log, or after another owner took it over. */
  lose(error: SessionError | LogError | AgentError): void {
    if (!this.#lifecycle.lose(error)) return;
    this.#detach();
    this.#lease?.close().catch((cause: unknown) => this.reportLogError(cause));
    logLost(this.#logger, error);
    if (error instanceof AgentError) return this.#hosted.stop(error);
    this.reportLogError(error);
    this.#hosted.stop(lostError(error, this.#hosted.state()));
  }

  /** Closes the session. A second call ends the wait for running tools. */
  close(graceMs: number): Promise<void> {
    return this.#close(this.#options.access === "run" ? graceMs : 0);
  }

  async #shutDown(): Promise<void> {
    await this.#cancels;
    const wasOpen = this.#lifecycle.savesSnapshot;
    // First, while the session still accepts inputs: the record that confirms a snapshot is an input.
    if (wasOpen) await this.#snapshots?.save();
    this.#lifecycle.close();
    this.#detach();
    await this.#hosted.session.close();
    // Wait for a pending append, so that the inputs that it makes durable are published.
    await this.#hosted.session.settled();
    await this.#follower.idle();
    if (wasOpen) await this.#saveDue();
    await this.#lease?.close().catch((error: unknown) => this.reportLogError(error));
    logClosed(this.#logger, this.#writer.head.seq);
  }

  /** Saves when the work continues, for workers. Without it they open the session, and find out. */
  async #saveDue(): Promise<void> {
    const { access, handle } = this.#options;
    if (access !== "run" || this.#lifecycle.lost !== undefined) return;
    try {
      await handle.log.saveDue?.(this.#writer.head.seq, nextWorkAt(this.#hosted.state()));
    } catch (error) {
      this.reportLogError(error);
    }
  }

  #detach(): void {
    this.#follower.stop();
    this.#retries.stop();
  }

  #sessionBase(): SessionBase {
    const { handle, found, access, clock, context, files, onApproval, onEvent, onError, onLog } =
      this.#options;
    const { newId = randomId } = this.#options;
    const { id } = handle.log;
    return {
      id,
      clock,
      context,
      files,
      newId,
      onApproval,
      onEvent,
      onError,
      onLog,
      identity: identityOf(id, found.header),
      initial: found.state,
      seq: found.head.seq,
      runsEffects: access === "run",
      // Effects of the restored state start only after its interrupted work has been settled.
      startsEffects: (state) => this.#lifecycle.startsEffects && state.opened > found.state.opened,
      ledger: { refusalOf: (input) => this.#writer.refusalOf(input), commit: this.#commit },
      refuses: () => this.#refusal(),
      refusesHost: () => this.#hostRefusal(),
      reportsDeadlines: () => access === "run" || andThen(handle.log.currentLease(), hasEnded(clock)),
      ...callerBase(this.#options),
      onPublished: this.#published,
      onBroken: (error) => this.lose(error),
      onCommitFailed: (error, key) => this.#commitFailed(error, key),
      onForeignFailed: (error) => this.#halt(error),
    };
  }

  #refusal(): Error | undefined {
    const { access, found, postError } = this.#options;
    if (this.#lifecycle.lost !== undefined || access !== "read") return this.#lifecycle.lost ?? postError;
    return found.stoppedBy ?? new SessionError("ReadOnly", 'This session was opened with access "read".');
  }

  #hostRefusal(): Error | undefined {
    if (this.#options.access !== "post") return undefined;
    const message = "Only the process that runs the session may configure it or add notes.";
    return new SessionError("NotOwner", message);
  }

  readonly #published: MachineHooks["published"] = ({ input, position }, { state }) => {
    // This is the own `session-opened`: the one of another owner would have thrown `StaleWriter`.
    if (input.type === "session-opened") this.#lifecycle.open();
    if (position !== undefined) this.#snapshots?.reached({ state, at: position }, input);
  };

  /** A session that was lost writes nothing more. */
  readonly #commit: InputLedger["commit"] = (steps) => {
    const { lost } = this.#lifecycle;
    if (lost !== undefined) throw lost;
    return this.#retries.committed(this.#writer.commit(steps));
  };

  #commitFailed(error: unknown, key: string | undefined): void {
    if (error === this.#lifecycle.lost) return;
    this.#failedCommits?.add(error);
    this.#lastError = error;
    if (isFinal(error)) return this.lose(error);
    if (!this.#lifecycle.isLive) return;
    // Without a key, all inputs came from outside, and their dispatches have rejected. The log may contain them all the same.
    if (key === undefined) return void this.refresh();
    this.#hosted.report({ source: "log", error, key });
    logAppendRetry(this.#logger, error);
    this.#retries.failed();
  }

  /** Applies the records that other processes appended. Resolves with false if the log could not be read. */
  async #pull(): Promise<boolean> {
    if (!this.#lifecycle.isLive) return true;
    try {
      const inputs = await this.#writer.pull();
      if (!this.#lifecycle.isLive) return true;
      if (inputs.length > 0 && !(await this.#follow(inputs))) return false;
      this.#writer.skipTo(inputs);
      return true;
    } catch (error) {
      if (isFinal(error)) this.lose(error);
      if (!this.#lifecycle.isLive) return true;
      this.reportLogError(error);
      return false;
    }
  }

  /** Applies inputs of the log. Resolves with false if inputs of this session that were to be appended with them were not. */
  async #follow(inputs: readonly PendingInput[]): Promise<boolean> {
    const failedCommits = (this.#failedCommits = new Set<unknown>());
    try {
      await this.#hosted.dispatch(...inputs);
    } catch (error) {
      if (failedCommits.has(error)) return false;
      this.#halt(error);
    } finally {
      this.#failedCommits = undefined;
    }
    return true;
  }

  /** Reports that the reducer threw for a record of another process, and ends this session: it cannot follow its log. */
  #halt(error: unknown): void {
    if (!this.#lifecycle.isLive) return;
    this.#hosted.report({ source: "transition", error });
    const message = "An input of the log could not be applied.";
    this.lose(new AgentError("AgentFailed", message, { reason: "InternalError", cause: error }));
  }

  #newSnapshotKeeper(): SnapshotKeeper {
    const { handle, found, clock } = this.#options;
    return snapshotKeeper({
      handle,
      found,
      confirm: (seq, digest) =>
        this.#hosted.dispatch(
          new PendingInput({ type: "snapshot-taken", seq, digest, timestamp: clock.now() }),
        ),
      onError: (error) => this.reportLogError(error),
    });
  }
}
