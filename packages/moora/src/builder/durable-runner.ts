import {
  AgentError,
  answerTextAt,
  initialStateOf,
  openSession,
  stateAt,
  type Agent,
  type AgentEvent,
  type AgentRun,
  type AgentState,
  type Clock,
  type ControlMove,
  type DurableSession,
  type LogListener,
  type OnApproval,
  type Question,
  type Trace,
} from "@moora/agent";
import { traceOf } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { logErrorToAgentError } from "./log-error-to-agent-error.ts";

/** The log and the session that store a run. */
export interface RunStorage {
  /** The log of the session. */
  readonly log: EventLog;
  /** The id of the session in the log. */
  readonly id: string;
  /** Whether an existing session is resumed; otherwise it is a `Conflict`. */
  readonly resumes: boolean;
}

export interface DurableRunnerOptions {
  readonly storage: RunStorage;
  readonly clock: Clock | undefined;
  readonly newId: (prefix: string) => string;
  readonly onApproval: OnApproval | undefined;
  readonly context: object | undefined;
  readonly onLog: LogListener | undefined;
}

/** A running task, or one that has its answer already. */
export interface TaskRun {
  readonly events: AsyncIterable<AgentEvent>;
  /** Resolves with the text of the answer. Rejects with `AgentError`. */
  text(): Promise<string>;
  readonly cancel: (reason?: string) => void;
}

/** A run of a session as a task. */
export const toTaskRun = (run: AgentRun): TaskRun => ({
  events: run,
  text: async () => (await run).text,
  cancel: run.cancel,
});

/** Runs a task in a session of a log. */
export class DurableRunner {
  readonly #agent: Agent;
  readonly #task: string;
  readonly #options: DurableRunnerOptions;
  #session: DurableSession | undefined;
  #state: AgentState;
  /** The moves before this process resumed the task. */
  #earlierMoves: readonly ControlMove[] = [];
  #cancelled: { readonly reason: string | undefined } | undefined;

  constructor(agent: Agent, task: string, options: DurableRunnerOptions) {
    this.#agent = agent;
    // As a session stores it.
    this.#task = task.toWellFormed();
    this.#options = options;
    this.#state = initialStateOf(agent);
  }

  current(): AgentState {
    if (this.#session === undefined) return this.#state;
    const { streaming: _, ...state } = this.#session.current();
    return state;
  }

  trace(): Trace {
    return traceOf([...this.#earlierMoves, ...(this.#session?.trace().entries ?? [])]);
  }

  /** Cancels the task, also before the session is open. */
  cancel(reason?: string): unknown {
    this.#cancelled = { reason };
    return this.#session?.cancel(reason);
  }

  /**
   * Sends the task, or resumes it. If the log has its answer, that is returned again, and no model is called. Rejects with
   * `AgentError`: `Conflict`, `LogCorrupt` or `MemoryError`.
   */
  async start(): Promise<TaskRun> {
    try {
      return (await this.#readRecorded()) ?? (await this.#startOrResume());
    } catch (error) {
      throw logErrorToAgentError(error, this.current());
    }
  }

  /** The open questions from before this process resumed the task. */
  openQuestions(): readonly AgentEvent[] {
    const session = this.#session;
    return (session?.questions() ?? []).map((question: Question) => ({
      type: "ApprovalRequested",
      ...question,
      decide: (decision, by) => session?.decide(question, decision, by),
    }));
  }

  /** Closes the session: the next process that opens it resumes it. */
  async close(): Promise<void> {
    await this.#session?.close();
  }

  async #readRecorded(): Promise<TaskRun | undefined> {
    const { log, id, resumes } = this.#options.storage;
    if ((await log.open(id)) === undefined) return undefined;
    if (!resumes) {
      throw new AgentError("Conflict", `Session "${id}" exists already. To resume it, add resume().`, {
        reason: "SessionExists",
      });
    }
    const { state, moves } = await stateAt(log, id);
    this.#state = state;
    this.#earlierMoves = moves;
    return this.#recordedAnswer();
  }

  async #startOrResume(): Promise<TaskRun> {
    const { storage, clock, newId, onApproval, context, onLog } = this.#options;
    const session = await openSession(this.#agent, {
      log: storage.log,
      id: storage.id,
      newId,
      ...(context === undefined ? {} : { context }),
      ...(clock === undefined ? {} : { clock }),
      ...(onApproval === undefined ? {} : { onApproval }),
      ...(onLog === undefined ? {} : { onLog }),
    });
    this.#session = session;
    const { access, lastError } = session.info();
    if (access !== "run") throw lastError;
    const isSent = lastMessageOf(session.current()) === this.#task;
    const running = isSent ? session.running() : undefined;
    const recorded = isSent && running === undefined ? this.#recordedAnswer() : undefined;
    const task = recorded ?? toTaskRun(running ?? session.ask(this.#task));
    if (this.#cancelled !== undefined) task.cancel(this.#cancelled.reason);
    return task;
  }

  /** The task with its recorded answer. Undefined without one. */
  #recordedAnswer(): TaskRun | undefined {
    const state = this.current();
    if (state.reActContext.control.type !== "Done" || lastMessageOf(state) !== this.#task) return undefined;
    const text = answerTextAt(state);
    return { events: finalAnswer(text), text: () => Promise.resolve(text), cancel: () => undefined };
  }
}

async function* finalAnswer(text: string): AsyncGenerator<AgentEvent, void, undefined> {
  yield { type: "FinalAnswer", answer: text, text };
}

const lastMessageOf = ({ messages }: AgentState): string | undefined =>
  messages.findLast(({ role }) => role === "user")?.content;
