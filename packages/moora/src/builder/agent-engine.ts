import {
  AgentError,
  answerTextAt,
  initialStateOf,
  memoryAt,
  openSession,
  startSession,
  stateAt,
  type Agent,
  type AgentEvent,
  type AgentMemory,
  type AgentRun,
  type AgentState,
  type Clock,
  type ControlMove,
  type DurableSession,
  type LogListener,
  type OnApproval,
  type Session,
  type Trace,
} from "@moora/agent";
import { checkOptions, isPromise, type OptionForms } from "@moora/agent-core-effects/internal";
import { isFinal, lostError, refusalWithoutReviewer, withOneReviewer } from "@moora/agent/internal";
import { controlName, traceOf } from "@moora/agent-core-state-machine";
import { LogError, type EventLog } from "@moora/event-log";

/** The log and the session that store a run. */
export interface RunStorage {
  /** The log of the session. */
  readonly log: EventLog;
  /** The id of the session in the log. */
  readonly id: string;
  /** Whether an existing session is resumed; otherwise it is a `Conflict`. */
  readonly resumes: boolean;
}

/** The clock and the ids of an engine. Defaults: the clock of the machine, random ids. */
export interface EngineHost {
  readonly clock?: Clock;
  /** Creates the ids of the session and its message. */
  readonly newId?: (prefix: string) => string;
}

/** Options of an `AgentEngine`. */
export interface EngineOptions extends EngineHost {
  /** Decides the questions to a reviewer. Default: `run` rejects them. */
  readonly onApproval?: OnApproval;
  /** What the tools and handlers need of this process. Default: nothing. */
  readonly context?: object;
  /** Receives the log entries of the run. Default: none. */
  readonly onLog?: LogListener;
  /** The log and session that store the run. Default: in memory only. */
  readonly storage?: RunStorage;
}

const optionForms: OptionForms<EngineOptions> = {
  clock: "clock",
  newId: "function",
  onApproval: "any",
  context: "any",
  onLog: "any",
  storage: "any",
};

/** The path of a run through the control graph, with a method that prints it. */
export interface EngineTrace extends Trace {
  /** Writes the table of `toText` to the console. */
  print(): void;
}

/**
 * One task for one agent, run once with `run` or `runStreaming`, in a session of its own. A second run is rejected with an
 * `AgentError` of kind `Conflict`: build another engine, or continue the conversation in a session
 * (`startSession(engine.agent, { state: engine.state })`). State, trace and memory remain available after the run.
 */
export class AgentEngine {
  readonly agent: Agent;
  readonly task: string;
  readonly #options: EngineOptions;
  #hasRun = false;
  #session: Session | undefined;
  /** The moves before this process resumed the task. */
  #earlierMoves: readonly ControlMove[] = [];
  #cancelled: { readonly reason: string | undefined } | undefined;

  constructor(agent: Agent, task: string, options: EngineOptions = {}) {
    checkOptions("AgentEngine", options, optionForms);
    this.agent = agent;
    this.task = task;
    this.#options = options;
  }

  /**
   * Runs the task and resolves with the text of the answer. Rejects with an `AgentError` that contains state, usage and
   * trace. Without `onApproval`, calls that need approval are rejected.
   */
  async run(): Promise<string> {
    const opened = this.#open(this.#options.onApproval ?? refusalWithoutReviewer);
    // Without a log the task is asked before this returns, so that its errors name the caller.
    await using session = isPromise(opened) ? await opened : opened;
    const run = this.#runIn(session);
    return run === undefined ? answerTextAt(this.state) : (await run).text;
  }

  /**
   * Runs the task and yields its events; the last one is `FinalAnswer` or `Error`. The task starts when the first event is
   * requested, and leaving the loop early cancels it. Without `onApproval`, an `ApprovalRequested` waits for its `decide`.
   */
  async *runStreaming(): AsyncGenerator<AgentEvent, void, undefined> {
    await using session = await this.#open(this.#options.onApproval);
    const run = this.#runIn(session);
    if (run === undefined) {
      const text = answerTextAt(this.state);
      return yield { type: "FinalAnswer", answer: text, text };
    }
    for (const question of session.questions()) {
      const decide: Extract<AgentEvent, { type: "ApprovalRequested" }>["decide"] = (decision, by) =>
        session.decide(question, decision, by);
      yield { type: "ApprovalRequested", ...question, decide };
    }
    try {
      yield* run;
    } finally {
      run.cancel("The consumer stopped reading the events.");
    }
  }

  /** The current state. A session can continue from it: `startSession(engine.agent, { state })`. */
  get state(): AgentState {
    if (this.#session === undefined) return initialStateOf(this.agent);
    const { streaming: _, ...state } = this.#session.current();
    return state;
  }

  /** The path through the control graph so far. */
  trace(): EngineTrace {
    const trace = traceOf([...this.#earlierMoves, ...(this.#session?.trace().entries ?? [])]);
    return { ...trace, print: () => console.log(trace.toText()) };
  }

  /** The name of the control state, such as `Planning` or a custom state. */
  currentState(): string {
    return controlName(this.state.reActContext.control);
  }

  /** A summary of the state: task, step, history, last observation, final answer, with the trace. */
  memory(): AgentMemory & { readonly trace: EngineTrace } {
    return { ...memoryAt(this.state), task: this.task, trace: this.trace() };
  }

  /** Ends the run as `Cancelled`, at any time, and aborts the signals of running work. Does nothing without a run. */
  cancel(reason?: string): void {
    if (!this.#hasRun) return;
    this.#cancelled = { reason };
    // A session that is closed has no work that could be canceled.
    this.#session?.cancel(reason).catch(() => undefined);
  }

  #open(onApproval: OnApproval | undefined): Session | Promise<Session> {
    if (this.#hasRun) {
      const message =
        "This engine has already run. Build another one, or continue from its state in a session.";
      throw new AgentError("Conflict", message, { reason: "AlreadyRun" });
    }
    this.#hasRun = true;
    const { storage, ...given } = this.#options;
    const { newId = randomId } = given;
    const options = { ...given, newId, ...(onApproval === undefined ? {} : { onApproval }) };
    const agent = withOneReviewer(this.agent);
    if (storage !== undefined) return this.#openIn(storage, agent, options);
    this.#session = startSession(agent, { ...options, id: newId("task") });
    return this.#session;
  }

  /** Rejects with `AgentError`: `Conflict`, `LogCorrupt` or `MemoryError`. */
  async #openIn(storage: RunStorage, agent: Agent, options: EngineOptions): Promise<Session> {
    try {
      const { log, id } = storage;
      await this.#readEarlier(storage);
      const session = await openSession(agent, { ...options, log, id });
      this.#session = session;
      checkRuns(session);
      return session;
    } catch (error) {
      throw this.#toAgentError(error);
    }
  }

  async #readEarlier({ log, id, resumes }: RunStorage): Promise<void> {
    if ((await log.open(id)) === undefined) return;
    if (resumes) this.#earlierMoves = (await stateAt(log, id)).moves;
    else {
      const message = `Session "${id}" exists already. To resume it, add resume().`;
      throw new AgentError("Conflict", message, { reason: "SessionExists" });
    }
  }

  /** Sends the task, or joins its run. Undefined where the session has its answer already. */
  #runIn(session: Session): AgentRun | undefined {
    const { messages, reActContext } = this.state;
    const isSent = messages.findLast(({ role }) => role === "user")?.content === this.task.toWellFormed();
    const running = isSent ? session.running() : undefined;
    if (running === undefined && isSent && reActContext.control.type === "Done") return undefined;
    const run = running ?? session.ask(this.task);
    if (this.#cancelled !== undefined) run.cancel(this.#cancelled.reason);
    return run;
  }

  /** An error of a log or a session as a run of the session would end with it, with its code as the reason. Any other error as it is. */
  #toAgentError(error: unknown): unknown {
    if (isFinal(error)) return lostError(error, this.state);
    if (!(error instanceof LogError)) return error;
    const { code: reason, message } = error;
    return new AgentError("MemoryError", message, { reason, state: this.state, cause: error });
  }
}

/** Throws the reason why a session can only be read. */
function checkRuns(session: DurableSession): void {
  const { access, lastError } = session.info();
  if (access !== "run") throw lastError;
}

const randomId = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`;
