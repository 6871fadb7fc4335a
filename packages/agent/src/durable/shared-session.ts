import { effectsAt, type Clock, type DispatchedInput } from "@moora/agent-core-effects";
import { step, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { LogError, type EventLog } from "@moora/event-log";
import { checkIsAgent, checkIsLog, checkIsReached, checkIsText } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { checkOptions, type OptionForms } from "../check-options.ts";
import type { Agent } from "../define-agent.ts";
import { Logger, type LogListener } from "../logger.ts";
import { checkAgent, openingInputs, openLog } from "../open-session.ts";
import { safeErrorListener } from "../safe-error-listener.ts";
import { logIgnored, logApplied } from "../session/log-inputs.ts";
import { checkedListener, checkSeq } from "../session/session-arguments.ts";
import type { PendingInput } from "../session/pending-input.ts";
import { randomId } from "../user-message.ts";
import { checkIsNotClosed } from "./closed-session.ts";
import { engineClaim, takeLease } from "./engine-lease.ts";
import { foldInputs, hasApplied, type FoldStep } from "./fold-inputs.ts";
import { followLog } from "./follow-log.ts";
import { inTurns } from "./in-turns.ts";
import { writerLogs } from "./lifecycle-logs.ts";
import { logHandle, type LogHandle } from "./log-handle.ts";
import { LogWriter } from "./log-writer.ts";
import { restoreSession, type RestoredSession } from "./restore.ts";
import { identityOf } from "./session-header.ts";

/** The options of `openSharedSession`. */
export interface SharedSessionOptions {
  /** The log that has the session, or in which it is created. */
  readonly log: EventLog;
  /** The id of the session in the log. */
  readonly id: string;
  /** The name of this runner in the first record of a session that it creates. Default: a random name. */
  readonly owner?: string;
  /**
   * The name of the engine that runs the session. Its lease is then that of the engine, without end: no process runs the session, and
   * no process posts to it but those of the engine. The same in all processes of the engine. Default: the session has no lease.
   */
  readonly engine?: string;
  /** The user to whom a new session belongs. Default: none. */
  readonly user?: string;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * Receives the log entries of this runner: inputs that do not apply, retries of models and tools, and appends of other runners
   * that were first. Default: none.
   */
  readonly onLog?: LogListener;
}

const sharedForms: OptionForms<SharedSessionOptions> = {
  log: "any",
  id: "any",
  owner: "string",
  engine: {
    expectation: "a non-empty string",
    fits: (value) => typeof value === "string" && value !== "",
  },
  user: "string",
  clock: "clock",
  onLog: "function",
};

/** What inputs did to a shared session. */
export interface SharedAppend {
  /** How many of them changed the state, and are in the log now. */
  readonly applied: number;
  /** The state after them. */
  readonly state: AgentState;
}

/**
 * A session in a log that several runners execute at the same time, each of them some of its effects, as the workflows of an
 * engine do. No process owns the session: each append is a compare-and-set, and the reducer decides whether an input
 * still applies.
 */
export interface SharedSession {
  readonly id: string;
  /** The identity of the session in idempotency keys and in the digests of questions: pass it to `performEffect` as `sessionId`. */
  readonly identity: string;
  /** The state after the last record that this runner knows. */
  current(): AgentState;
  /** Reads the new records. Resolves with the newest state. Rejects with `LogError` and `SessionError`. */
  refresh(): Promise<AgentState>;
  /**
   * Appends the inputs that change the newest state, all with one append. A late-bound input is computed for the state before it,
   * again if another runner was first. Rejects with `LogError`; it is then unknown whether the inputs are in the log.
   */
  append(inputs: readonly DispatchedInput[]): Promise<SharedAppend>;
  /** Appends the configuration, the tools and the data of the agent, if they are not those of the session. */
  configure(): Promise<void>;
  /**
   * Calls the listener with every input after a sequence number, each once and in order: first those of the log, then the new ones
   * that this runner reads or appends, before a late-bound input is computed after them. Errors of the listener go to `console.error`.
   * Resolves with a function that unsubscribes.
   */
  follow(afterSeq: number, listener: (seq: number, input: AgentInput) => void): Promise<() => void>;
  /** Calls back when the log may have new records. Returns a function that unsubscribes. */
  watch(listener: () => void): () => void;
  /**
   * Resolves with the first state, of those that this runner reads and appends from the newest on, that is as `isReached` says. Follows
   * the log meanwhile. Rejects with what `isReached` throws, and with `LogError`, code `LogRemoved`, if the session is removed.
   */
  waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState>;
  /**
   * Runs the effect with this key, and follows the log meanwhile. The signal aborts when the session no longer wants the effect, and when
   * the session was removed.
   */
  run(key: string, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Whether a call of `run` or `waitFor` has not ended. */
  readonly isUsed: boolean;
}

/**
 * Opens a session that several runners execute at the same time, and creates it if the log has none of this id. For hosts that
 * start the effects of a state by an engine of their own; all others use `openSession`. Rejects with `BuildError` for an unknown or
 * invalid option, with `SessionError` (`WrongAgent`, `UnsupportedVersion`, `MoveUnfinished` or `SessionIncomplete` for a
 * closed session, and with `engine` `SessionBusy` for a session that a process runs) and `LogError`.
 */
export async function openSharedSession(
  agent: Agent<unknown>,
  options: SharedSessionOptions,
): Promise<SharedSession> {
  checkIsAgent("openSharedSession", agent);
  checkOptions("openSharedSession", options, sharedForms);
  checkIsLog(options.log);
  checkIsText("id", options.id);
  const { clock = systemClock, owner = randomId("runner"), engine } = options;
  const claim = engine === undefined ? undefined : engineClaim(engine, clock.now());
  const handle = logHandle(options.log, await openLog(agent, { ...options, claim }, "run"));
  const lease = await checkIsNotClosed(handle.log);
  // A log may have ignored the claim, and a session may be older than the claims of its engine.
  if (claim !== undefined) await takeLease(handle.log, claim, lease);
  const found = await restoreSession(handle.log);
  checkAgent(agent, found);
  if (found.stoppedBy !== undefined) throw found.stoppedBy;
  const identity = identityOf(options.id, found.header);
  const logger = new Logger(options.id, options.onLog);
  const session = new FoldedSession({ agent, handle, clock, identity, logger }, found);
  if (found.head.seq === 0) await session.append(openingInputs(agent, found, owner, clock));
  return session;
}

type Follower = (input: AgentInput, seq: number) => void;

interface FoldedParts {
  readonly agent: Agent<unknown>;
  readonly handle: LogHandle;
  readonly clock: Clock;
  readonly identity: string;
  readonly logger: Logger;
}

/** A call that waits for states of the session. */
interface Waiter {
  readonly changed: (state: AgentState) => void;
  readonly removed: (error: LogError) => void;
}

class FoldedSession implements SharedSession {
  readonly #parts: FoldedParts;
  readonly #writer: LogWriter;
  #state: AgentState;
  readonly #followers = new Set<Follower>();
  readonly #waiters = new Set<Waiter>();
  #stopWatching: (() => void) | undefined;
  /** Reads and appends of one runner run one after the other, in the order of the calls. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: FoldedParts, { state, head }: Pick<RestoredSession, "state" | "head">) {
    const { handle, logger } = parts;
    this.#parts = parts;
    this.#writer = new LogWriter({ handle, start: head, runsEffects: false, ...writerLogs(logger) });
    this.#state = state;
  }

  get id(): string {
    return this.#parts.handle.log.id;
  }

  get identity(): string {
    return this.#parts.identity;
  }

  get isUsed(): boolean {
    return this.#waiters.size > 0;
  }

  current(): AgentState {
    return this.#state;
  }

  refresh(): Promise<AgentState> {
    return this.#inTurn(() => this.#read());
  }

  append(inputs: readonly DispatchedInput[]): Promise<SharedAppend> {
    return this.#inTurn(() => this.#append(() => inputs));
  }

  async configure(): Promise<void> {
    const { agent, clock } = this.#parts;
    const changed = (state: AgentState): readonly AgentInput[] =>
      openingInputs(agent, { state }, "", clock).filter(({ type }) => type !== "session-opened");
    await this.#inTurn(() => this.#append(changed));
  }

  async follow(afterSeq: number, listener: (seq: number, input: AgentInput) => void): Promise<() => void> {
    checkSeq("afterSeq", afterSeq);
    checkedListener(listener);
    const onInput = (follower: Follower): (() => void) => {
      this.#followers.add(follower);
      return () => void this.#followers.delete(follower);
    };
    const onError = safeErrorListener(undefined);
    return await this.#used(followLog(this.#parts.handle, { onInput, onError }, afterSeq, listener));
  }

  watch(listener: () => void): () => void {
    return this.#parts.handle.watch(listener);
  }

  async waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState> {
    checkIsReached(isReached);
    const { promise, resolve, reject } = Promise.withResolvers<AgentState>();
    const changed = (state: AgentState): void => {
      try {
        if (isReached(state)) resolve(state);
      } catch (error) {
        reject(error);
      }
    };
    return await this.#during({ changed, removed: reject }, async () => {
      const [, state] = await Promise.all([this.refresh(), promise]);
      return state;
    });
  }

  async run(key: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const abort = (message: string): void => controller.abort(new DOMException(message, "AbortError"));
    const changed = (state: AgentState): void => {
      if (effectsAt(state)[key] === undefined) abort("The session no longer wants this work.");
    };
    const removed = (): void => abort("The session was removed.");
    await this.#during({ changed, removed }, () => work(controller.signal));
  }

  /** Follows the log during the work. */
  async #during<Result>(waiter: Waiter, work: () => Promise<Result>): Promise<Result> {
    try {
      this.#waiters.add(waiter);
      // A log that cannot be read now reports its next change. That the session was removed, its waiters learn.
      this.#stopWatching ??= this.watch(() => void this.refresh().catch(() => undefined));
      return await work();
    } finally {
      this.#waiters.delete(waiter);
      if (!this.isUsed) {
        this.#stopWatching?.();
        this.#stopWatching = undefined;
      }
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#used(this.#turn.then(work));
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** The result of a use of the log. Where that finds the session removed, all that waits for it here ends. */
  async #used<Result>(use: Promise<Result>): Promise<Result> {
    try {
      return await use;
    } catch (error) {
      if (error instanceof LogError && error.code === "LogRemoved")
        for (const { removed } of this.#waiters) removed(error);
      throw error;
    }
  }

  /** Appends to the state that this runner knows. If another one has changed it, applies its records and tries again. */
  async #append(inputsAt: (state: AgentState) => readonly DispatchedInput[]): Promise<SharedAppend> {
    for (let isNewest = false; ; isNewest = true) {
      const steps = foldInputs(this.#state, inputsAt(this.#state));
      const accepted = steps.filter(hasApplied);
      if (accepted.length === 0 && !isNewest) {
        await this.#read();
        continue;
      }
      const result = await this.#writer.commit(accepted);
      if (result === undefined) {
        for (const folded of steps) this.#take(folded);
        return { applied: accepted.length, state: this.#changed() };
      }
      for (const { input } of result.before) this.#apply(input);
    }
  }

  /** Takes a step of this runner whose input is in the log, or did not apply. */
  #take(folded: FoldStep): void {
    const { logger } = this.#parts;
    const { input: pending, before, after } = folded;
    this.#state = after.state;
    if (hasApplied(folded)) this.#report(pending);
    if (!logger.isRead) return;
    if (hasApplied(folded)) logApplied(logger, pending.input, after.state);
    else logIgnored(logger, pending.input, before);
  }

  /** Folds an input of another runner. */
  #apply(pending: PendingInput): void {
    this.#state = step(pending.input)(this.#state).state;
    this.#writer.skipTo([pending]);
    this.#report(pending);
  }

  #report({ input, position }: PendingInput): void {
    for (const follower of this.#followers) follower(input, position?.seq ?? 0);
  }

  async #read(): Promise<AgentState> {
    await inTurns(await this.#writer.pull(), (pending) => this.#apply(pending));
    return this.#changed();
  }

  #changed(): AgentState {
    for (const { changed } of this.#waiters) changed(this.#state);
    return this.#state;
  }
}
