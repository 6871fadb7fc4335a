import {
  AgentError,
  AgentRun,
  answerTextAt,
  initialStateOf,
  openSession,
  stateAt,
  type Agent,
  type AgentEvent,
  type AgentState,
  type Clock,
  type ControlMove,
  type DurableSession,
  type OnApproval,
  type Question,
  type Trace,
} from "@moora/agent";
import { traceOf } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { logErrorToAgentError } from "./log-error-to-agent-error.ts";

/** Where a task is kept. */
export interface DurablePlace {
  readonly log: EventLog;
  readonly id: string;
  /** Whether a session that is there already is gone on with. */
  readonly resumes: boolean;
}

export interface DurableWalkOptions {
  readonly place: DurablePlace;
  readonly clock: Clock | undefined;
  readonly newId: (prefix: string) => string;
  readonly onApproval: OnApproval | undefined;
}

/** A task that lives in a log. */
export class DurableWalk {
  readonly #agent: Agent;
  readonly #task: string;
  readonly #options: DurableWalkOptions;
  #session: DurableSession | undefined;
  #state: AgentState;
  /** The walk until this process took the task up. */
  #before: readonly ControlMove[] = [];
  #cancelled: { readonly reason: string | undefined } | undefined;

  constructor(agent: Agent, task: string, options: DurableWalkOptions) {
    this.#agent = agent;
    // As a session takes it in.
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
    return traceOf([...this.#before, ...(this.#session?.trace().entries ?? [])]);
  }

  /** Also before the session is open. */
  cancel(reason?: string): unknown {
    this.#cancelled = { reason };
    return this.#session?.cancel(reason);
  }

  /**
   * Says the task, or goes on with it, in a box: who awaits a run by itself gets its result. An answer that is on record is given again, and nothing is done for it. Rejects
   * with `AgentError`: `Conflict`, `LogCorrupt` or `MemoryError`.
   */
  async begin(): Promise<{ readonly run: AgentRun }> {
    try {
      return (await this.#recorded()) ?? (await this.#opened());
    } catch (error) {
      throw logErrorToAgentError(error, this.current());
    }
  }

  /** What is asked and was asked before this process took the task up. */
  pending(): readonly AgentEvent[] {
    const session = this.#session;
    return (session?.questions() ?? []).map((question: Question) => ({
      type: "ApprovalRequested",
      ...question,
      decide: (decision, by) => session?.decide(question, decision, by),
    }));
  }

  /** Gives the session up: the next one who opens it goes on. */
  async close(): Promise<void> {
    await this.#session?.close();
  }

  async #recorded(): Promise<{ readonly run: AgentRun } | undefined> {
    const { log, id, resumes } = this.#options.place;
    if ((await log.open(id)) === undefined) return undefined;
    if (!resumes)
      throw new AgentError("Conflict", `There is a session ${id} already: go on with it by resume().`, {
        reason: "SessionExists",
      });
    const { state, moves } = await stateAt(log, id);
    this.#state = state;
    this.#before = moves;
    const run = this.#answered();
    return run && { run };
  }

  async #opened(): Promise<{ readonly run: AgentRun }> {
    const { place, clock, newId, onApproval } = this.#options;
    const session = await openSession(this.#agent, {
      log: place.log,
      id: place.id,
      newId,
      ...(clock === undefined ? {} : { clock }),
      ...(onApproval === undefined ? {} : { onApproval }),
    });
    this.#session = session;
    const { access, lastError } = session.info();
    if (access !== "run") throw lastError;
    const isTaken = lastMessageOf(session.current()) === this.#task;
    const run = (isTaken ? (session.running() ?? this.#answered()) : undefined) ?? session.ask(this.#task);
    if (this.#cancelled !== undefined) run.cancel(this.#cancelled.reason);
    return { run };
  }

  /** The answer that the task has, as a run that is over. */
  #answered(): AgentRun | undefined {
    const state = this.current();
    const { control, step, usage } = state.reActContext;
    if (control.type !== "Done" || lastMessageOf(state) !== this.#task) return undefined;
    const run = new AgentRun(() => undefined);
    const text = answerTextAt(state);
    run.succeed({ answer: text, text, steps: step, usage, state, trace: this.trace() });
    return run;
  }
}

const lastMessageOf = ({ messages }: AgentState): string | undefined =>
  messages.findLast(({ role }) => role === "user")?.content;
