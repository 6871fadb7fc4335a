import type { Clock, DispatchedInput } from "@moora/agent-core-effects";
import { step, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { checkedChain, LogError, type EventLog, type LogRecord } from "@moora/event-log";
import { readInTurns } from "@moora/event-log/store";
import { checkIsAgent, checkIsLog, checkIsText } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { checkOptions, type OptionForms } from "../check-options.ts";
import type { Agent } from "../define-agent.ts";
import { Logger, type LogListener } from "../logger.ts";
import { checkAgent, openingInputs, openLog } from "../open-session.ts";
import { safeErrorListener } from "../safe-error-listener.ts";
import { logIgnored, logApplied } from "../session/log-inputs.ts";
import { checkedListener, checkSeq } from "../session/session-arguments.ts";
import { randomId } from "../user-message.ts";
import { appendInTurn, longestAppend, splitIntoAppends } from "./appends.ts";
import { checkIsNotClosed } from "./closed-session.ts";
import { engineClaim, takeLease } from "./engine-lease.ts";
import { foldInputs, type Fold, type FoldStep } from "./fold-inputs.ts";
import { followLog } from "./follow-log.ts";
import { inTurns } from "./in-turns.ts";
import { writerLogs } from "./lifecycle-logs.ts";
import { logHandle, type LogHandle } from "./log-handle.ts";
import { restoreSession } from "./restore.ts";
import { identityOf } from "./session-header.ts";
import { recordToInput } from "./session-record.ts";

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

class FoldedSession implements SharedSession {
  readonly #parts: FoldedParts;
  #fold: Fold;
  readonly #followers = new Set<Follower>();
  /** Reads and appends of one runner run one after the other, in the order of the calls. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: FoldedParts, { state, head }: Fold) {
    this.#parts = parts;
    this.#fold = { state, head };
  }

  get id(): string {
    return this.#parts.handle.log.id;
  }

  get identity(): string {
    return this.#parts.identity;
  }

  current(): AgentState {
    return this.#fold.state;
  }

  refresh(): Promise<AgentState> {
    return this.#inTurn(async () => {
      await this.#read();
      return this.#fold.state;
    });
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
    return await followLog(this.#parts.handle, { onInput, onError }, afterSeq, listener);
  }

  watch(listener: () => void): () => void {
    return this.#parts.handle.watch(listener);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Appends to the state that this runner knows. If another one has changed it, reads its records and tries again. */
  async #append(inputsAt: (state: AgentState) => readonly DispatchedInput[]): Promise<SharedAppend> {
    for (let isNewest = false; ; isNewest = true) {
      const { records, fold, steps } = foldInputs(this.#fold, inputsAt(this.#fold.state));
      const isUnchanged = records.length === 0;
      if (isUnchanged ? isNewest : await this.#isAppended(records)) {
        this.#fold = fold;
        for (const record of records) this.#report(record);
        this.#logSteps(steps);
        return { applied: records.length, state: fold.state };
      }
      const foreign = await this.#read();
      if (!isUnchanged) writerLogs(this.#parts.logger).onConflict(foreign);
    }
  }

  #report(record: LogRecord): void {
    for (const follower of this.#followers) follower(recordToInput(record), record.seq);
  }

  #logSteps(steps: readonly FoldStep[]): void {
    const { logger } = this.#parts;
    if (!logger.isRead) return;
    for (const { input, before, after } of steps) {
      if (after === before) logIgnored(logger, input, before);
      else logApplied(logger, input, after);
    }
  }

  /** Returns false if another runner was first. After a failed write, reads whether the records are in the log all the same. */
  async #isAppended(records: readonly LogRecord[]): Promise<boolean> {
    const { handle } = this.#parts;
    const { seq } = this.#fold.head;
    try {
      await appendInTurn(handle, splitIntoAppends(records, longestAppend(handle)));
      return true;
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      if (error.code === "Conflict") return false;
      if (error.code !== "LogWrite") throw error;
      await handle.renew();
      const stored = await handle.log.read(seq);
      if (stored.some(({ digest }) => digest === records.at(-1)?.digest)) return true;
      throw error;
    }
  }

  /** Resolves with the number of records that were read. */
  async #read(): Promise<number> {
    const { handle } = this.#parts;
    const records = await readInTurns(handle.log, this.#fold.head.seq);
    await inTurns(records, (record) => {
      checkedChain(this.#fold.head, [record]);
      const { seq, digest } = record;
      const { state } = step(recordToInput(record))(this.#fold.state);
      this.#fold = { state, head: { seq, digest } };
      this.#report(record);
    });
    return records.length;
  }
}
