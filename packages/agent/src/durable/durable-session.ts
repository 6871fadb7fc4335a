import { AgentError, isPromise, type Clock } from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { LogError, type Lease } from "@moora/event-log";
import type { Agent } from "../define-agent.ts";
import type { ErrorListener } from "../error-reports.ts";
import type { OnApproval } from "../session/host-approvals.ts";
import { hostSession } from "../session/create-session.ts";
import { checkedGraceMs, checkedListener, checkSeq } from "../session/session-arguments.ts";
import type { Session } from "../session/session.ts";
import { randomId } from "../user-message.ts";
import { followLog, inputsAfter, type LoggedInput } from "./follow-log.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { LogHandle } from "./log-handle.ts";
import { andThen } from "./maybe-promise.ts";
import { logWriter } from "./log-writer.ts";
import type { RestoredSession } from "./restore.ts";
import { patienceMs, retries } from "./retries.ts";
import { SessionError } from "./session-error.ts";
import { identityOf } from "./session-header.ts";
import { snapshotKeeper } from "./snapshot-keeper.ts";

/** What this host may do with a session: run its effects, post to its owner, or read along. */
export type Access = "run" | "post" | "read";

/** What a session says of itself. */
export interface SessionInfo {
  readonly id: string;
  readonly access: Access;
  /** The owner of the session, as far as its log shows. */
  readonly owner: string | null;
  /** The last record that this session has taken in. */
  readonly seq: number;
  /** When the right to run ends unless it is renewed; undefined without one. */
  readonly leaseUntil: number | undefined;
  /** What went wrong last with the log, or with the right to run. */
  readonly lastError: unknown;
  /** Whether there was a snapshot that is not used: of another release, or one that the log does not confirm. */
  readonly snapshotIgnored: boolean;
}

export interface DurableSession<Answer = string> extends Session<Answer> {
  info(): SessionInfo;
  /** The accepted inputs after a sequence number, from the log. */
  history(afterSeq?: number): Promise<readonly LoggedInput[]>;
  /** Calls back with every input after a sequence number: first those of the log, then the new ones. */
  follow(afterSeq: number, listener: (seq: number, input: AgentInput) => void): Promise<() => void>;
  /** Takes in what others appended. Happens by itself; call it where nothing may be missed. */
  refresh(): Promise<void>;
  /**
   * Starts nothing new, lets running tools end for up to `graceMs` (default 0), and gives the session up; what was broken
   * off is resumed by the next one who opens it. A second call does not wait any longer.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface DurableOptions {
  readonly handle: LogHandle;
  readonly found: RestoredSession;
  readonly access: Access;
  readonly clock: Clock;
  readonly onApproval?: OnApproval;
  readonly onError?: ErrorListener;
  readonly newId?: (prefix: string) => string;
  readonly snapshots?: boolean;
}

/** The session, and the ends of it that only the one who opens it holds. */
export interface OpenedSession<Answer> {
  readonly session: DurableSession<Answer>;
  readonly loseOwnership: (error: SessionError) => void;
  /** The lease could not be renewed for now. */
  readonly failed: (error: unknown) => void;
  /** Begins to run: the first of these inputs says so. */
  becomeOwner(lease: LeaseKeeper, inputs: readonly AgentInput[]): Promise<void>;
}

/** What a log says that will not change when it is asked again. */
const finalCodes: ReadonlySet<string> = new Set([
  "Conflict",
  "LogCorrupt",
  "LogRemoved",
  "UnsupportedVersion",
]);

const isFinal = (error: unknown): error is SessionError | LogError =>
  error instanceof SessionError || (error instanceof LogError && finalCodes.has(error.code));

export function durableSession<Answer>(agent: Agent<Answer>, options: DurableOptions): OpenedSession<Answer> {
  const { handle, found, access, clock } = options;
  const { id } = handle.log;
  const head = logWriter({ handle, start: found.head, runsEffects: access === "run" });
  let lease: LeaseKeeper | undefined;
  let lastError: unknown = found.stoppedBy;
  let lost: Error | undefined;
  let opened = false;
  let draining = false;
  let closing: Promise<void> | undefined;
  let closed = false;
  const hurry = Promise.withResolvers<void>();

  const hosted = hostSession(agent, {
    id,
    identity: identityOf(id, found.header),
    initial: found.state,
    seq: found.head.seq,
    clock,
    newId: options.newId ?? randomId,
    runsEffects: access === "run",
    // Nothing of the state that was found is done before its broken-off work was dealt with, and nothing new on the way out.
    startsEffects: () => opened && !draining,
    onApproval: options.onApproval,
    onError: options.onError,
    ledger: {
      ...head,
      commit(steps) {
        const committed = head.commit(steps);
        if (isPromise(committed)) committed.then(retry.succeeded, () => undefined);
        else retry.succeeded();
        return committed;
      },
    },
    refuses: () => refusal(),
    refusesHost: () => hostRefusal(),
    judgesDeadlines: () => access === "run" || andThen(handle.log.currentLease(), isOver(clock)),
    onBroken: (error) => loseOwnership(error),
    onCommitFailed(error, key) {
      lastError = error;
      if (isFinal(error)) return loseOwnership(error);
      // Without a key only inputs from outside were not stored, which their callers hear of.
      if (closed || key === undefined) return;
      hosted.report({ source: "log", error, key });
      retry.failed();
    },
  });

  // The inputs of effects stay in front of the queue: an empty batch offers them again.
  const retry = retries({
    clock,
    again: () => void hosted.dispatch().then(retry.succeeded, () => undefined),
    keepsAlive: true,
    onLongFailure: () => hosted.failRuns(notWritten(lastError, hosted.state())),
  });

  const refusal = (): Error | undefined => {
    if (lost !== undefined) return lost;
    if (access === "read")
      return found.stoppedBy ?? new SessionError("ReadOnly", "This session was opened to be read only.");
    return undefined;
  };

  const hostRefusal = (): Error | undefined =>
    access === "post"
      ? new SessionError("NotOwner", "Only the process that runs the session may configure it or add notes.")
      : undefined;

  const failed = (error: unknown): void => {
    lastError = error;
    hosted.report({ source: "log", error });
  };

  const snapshots = snapshotKeeper({
    handle,
    found,
    confirm: (seq, digest) =>
      hosted.dispatch({ type: "snapshot-taken", seq, digest, timestamp: clock.now() }),
    onError: failed,
  });
  const keepsSnapshots = access === "run" && options.snapshots !== false;

  const detach = (): void => {
    stopWatching();
    retry.stop();
    pullRetry.stop();
  };

  const loseOwnership = (error: SessionError | LogError | AgentError): void => {
    if (lost !== undefined || closed) return;
    lost = error;
    detach();
    lease?.close().catch(failed);
    if (error instanceof AgentError) return hosted.stop(error);
    failed(error);
    const kind = error.code === "LogCorrupt" ? "LogCorrupt" : "Conflict";
    const about = { reason: error.code, state: hosted.state(), cause: error };
    hosted.stop(new AgentError(kind, error.message, about));
  };

  const pull = async (): Promise<void> => {
    if (lost !== undefined || closed) return;
    try {
      const inputs = await head.pull();
      if (closed) return;
      if (inputs.length > 0) await hosted.dispatch(...inputs).catch(halt);
      head.taken(inputs);
      pullRetry.succeeded();
    } catch (error) {
      if (isFinal(error)) return loseOwnership(error);
      if (closed) return;
      failed(error);
      pullRetry.failed();
    }
  };

  /** The reducer threw for what others appended: this session cannot follow its log any further, and says so. */
  const halt = (error: unknown): void => {
    if (closed || lost !== undefined) return;
    hosted.report({ source: "transition", error });
    const message = "An input of the log could not be applied.";
    loseOwnership(new AgentError("AgentFailed", message, { reason: "InternalError", cause: error }));
  };

  let pulling: Promise<void> | undefined;
  let again = false;
  const pullAll = async (): Promise<void> => {
    do {
      again = false;
      await pull();
    } while (again);
    // At once, not when the promise is settled: what is asked for in between would be missed.
    pulling = undefined;
  };
  const refresh = (): Promise<void> => {
    again = true;
    return (pulling ??= pullAll());
  };
  const pullRetry = retries({ clock, again: () => void refresh(), keepsAlive: false });
  const stopWatching = handle.log.watch(() => void refresh());

  hosted.session.onInput((input, state) => {
    const at = head.placeOf(input);
    if (at !== undefined && keepsSnapshots) snapshots.reached({ state, at }, input);
  });

  const shutDown = async (graceMs: number): Promise<void> => {
    draining = true;
    if (graceMs > 0 && access === "run") await drained(graceMs);
    // While the session still takes inputs: the record that confirms a snapshot is one.
    if (opened && lost === undefined && keepsSnapshots) await snapshots.save();
    closed = true;
    detach();
    await hosted.session.close();
    // An append that is under way ends, and what it made durable is published.
    await hosted.session.settled();
    await pulling;
    await lease?.close().catch(failed);
  };

  const drained = async (graceMs: number): Promise<void> => {
    const late = Promise.withResolvers<void>();
    const cancelTimer = clock.after(graceMs, late.resolve);
    await Promise.race([hosted.drained(), late.promise, hurry.promise]);
    cancelTimer();
  };

  const session: DurableSession<Answer> = {
    ...hosted.session,
    info: () => ({
      id,
      access: lost === undefined ? access : "read",
      owner: hosted.state().owner,
      seq: head.at.seq,
      leaseUntil: lease?.until,
      lastError,
      snapshotIgnored: found.snapshotIgnored,
    }),
    async history(afterSeq = 0) {
      checkSeq("afterSeq", afterSeq);
      return await inputsAfter(handle, afterSeq);
    },
    async follow(afterSeq, listener) {
      checkSeq("afterSeq", afterSeq);
      checkedListener(listener);
      return await followLog(
        handle,
        (onInput) => hosted.session.onInput((input, _state, seq) => onInput(input, seq)),
        afterSeq,
        listener,
      );
    },
    refresh,
    async close(closeOptions) {
      const graceMs = checkedGraceMs(closeOptions);
      if (closing !== undefined) hurry.resolve();
      await (closing ??= shutDown(graceMs));
    },
    [Symbol.asyncDispose]: () => session.close(),
  };

  return {
    session,
    loseOwnership,
    failed,
    async becomeOwner(keeper, inputs) {
      lease = keeper;
      const [first] = inputs;
      const stop = hosted.session.onInput((input) => {
        if (input === first) opened = true;
      });
      await hosted.dispatch(...inputs);
      stop();
    },
  };
}

/** Whether the lease is free, so that no owner reports the deadlines of the session. */
const isOver =
  (clock: Clock) =>
  (lease: Lease | undefined): boolean =>
    lease === undefined || lease.until <= clock.now();

const notWritten = (cause: unknown, state: AgentState): AgentError =>
  new AgentError(
    "MemoryError",
    `The log could not be written for ${patienceMs} ms. What is not stored is written when the log can be written again.`,
    { state, cause },
  );
