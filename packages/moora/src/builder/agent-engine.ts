import {
  AgentError,
  BuildError,
  initialStateOf,
  memoryAt,
  startSession,
  type Agent,
  type AgentEvent,
  type AgentMemory,
  type AgentRun,
  type AgentState,
  type Clock,
  type OnApproval,
  type Trace,
} from "@moora/agent";
import { controlName, traceOf } from "@moora/agent-core-state-machine";
import { DurableRunner, toTaskRun, type TaskRun, type RunStorage } from "./durable-runner.ts";
import { SyncRunner } from "./sync-runner.ts";

/** What of the world an engine uses. Defaults: the clock of the machine, random ids. */
export interface EngineHost {
  readonly clock?: Clock;
  /** Makes the ids of the session and its message. */
  readonly newId?: (prefix: string) => string;
}

export interface EngineOptions extends EngineHost {
  /** Answers what is asked of a human. */
  readonly onApproval?: OnApproval;
  /** Where the task is kept. Default: in memory only. */
  readonly storage?: RunStorage;
}

/** The moves of a run through the control graph, which can write themselves as a table. */
export interface EngineTrace extends Trace {
  /** Writes the table of `toText` to the console. */
  print(): void;
}

/** A task on its way, as its engine sees it: a session, or a walk that never waits. */
interface Runner {
  current(): AgentState;
  trace(): Trace;
  cancel(reason?: string): unknown;
}

/**
 * One task for one agent, run once: by `run`, `runSync` or `runStreaming`, whichever comes first. A second run is
 * refused with an `AgentError` of kind `Conflict`: another run is another engine, going on talking is a session
 * (`startSession(engine.agent, { state: engine.state })`). What the run did stays here to be looked at.
 */
export class AgentEngine {
  readonly agent: Agent;
  readonly task: string;
  readonly #options: EngineOptions;
  #runner: Runner | undefined;

  constructor(agent: Agent, task: string, options: EngineOptions = {}) {
    this.agent = agent;
    this.task = task;
    this.#options = options;
  }

  /**
   * Runs the task; resolves with the text of the answer. Rejects with an `AgentError` that carries state, usage and
   * trace. Calls that need an approval are rejected where no `onApproval` answers for them.
   */
  async run(): Promise<string> {
    const onApproval = this.#options.onApproval ?? rejectUnasked;
    if (this.#options.storage === undefined) return (await this.#ask(onApproval)).text;
    const runner = this.#durableRunner(this.#options.storage, onApproval);
    try {
      return await (await runner.start()).text();
    } finally {
      await runner.close();
    }
  }

  /**
   * The same without a promise, for models that answer at once (`callSync`) and code that returns no promise; throws
   * where `run` rejects. Nothing is waited for: a retry that is due later ends the run as `LlmError`, a tool that
   * answers later as `ToolError`, and a decision that comes as a promise counts as a rejection.
   */
  runSync(): string {
    this.#refuseSecondRun();
    const { clock, newId = randomId, onApproval = rejectUnasked, storage } = this.#options;
    if (storage !== undefined)
      throw new BuildError("A run that is kept in a log takes time: use run().", {
        reason: "NotSynchronous",
      });
    const runner = new SyncRunner(this.agent, { clock, newId, onApproval });
    this.#runner = runner;
    return runner.run(this.task);
  }

  /**
   * What the agent does as it does it, with `FinalAnswer` or `Error` as the last event. The task begins with the first
   * event that is asked for, and whoever leaves the loop early cancels it. Where no `onApproval` answers, an
   * `ApprovalRequested` waits for its `decide`.
   */
  async *runStreaming(): AsyncGenerator<AgentEvent, void, undefined> {
    const { onApproval, storage } = this.#options;
    if (storage === undefined) return yield* cancelOnReturn(toTaskRun(this.#ask(onApproval)));
    const runner = this.#durableRunner(storage, onApproval);
    try {
      const task = await runner.start();
      yield* runner.openQuestions();
      yield* cancelOnReturn(task);
    } finally {
      await runner.close();
    }
  }

  /** The whole agent as it is now. A session may go on from it: `startSession(engine.agent, { state })`. */
  get state(): AgentState {
    return this.#runner?.current() ?? initialStateOf(this.agent);
  }

  /** The walk through the control graph so far. */
  trace(): EngineTrace {
    const trace = this.#runner?.trace() ?? traceOf([]);
    return { ...trace, print: () => console.log(trace.toText()) };
  }

  /** The name of the control state, such as `Planning` or one of your own. */
  currentState(): string {
    return controlName(this.state.reActContext.control);
  }

  /** The agent as the hybrid machine tells it: task, step, history, last observation, final answer. */
  memory(): AgentMemory {
    return { ...memoryAt(this.state), task: this.task };
  }

  /** Ends the run as `Cancelled`, at any instant; what runs has its signal aborted. Without a run it does nothing. */
  cancel(reason?: string): void {
    void this.#runner?.cancel(reason);
  }

  #ask(onApproval: OnApproval | undefined): AgentRun {
    this.#refuseSecondRun();
    const { clock, newId = randomId } = this.#options;
    const session = startSession(this.agent, {
      id: newId("task"),
      newId,
      ...(clock === undefined ? {} : { clock }),
      ...(onApproval === undefined ? {} : { onApproval }),
    });
    this.#runner = {
      current() {
        const { streaming: _, ...state } = session.current();
        return state;
      },
      trace: () => session.trace(),
      cancel: (reason) => session.cancel(reason),
    };
    return session.ask(this.task);
  }

  #durableRunner(storage: RunStorage, onApproval: OnApproval | undefined): DurableRunner {
    this.#refuseSecondRun();
    const { clock, newId = randomId } = this.#options;
    const runner = new DurableRunner(this.agent, this.task, { storage, clock, newId, onApproval });
    this.#runner = runner;
    return runner;
  }

  #refuseSecondRun(): void {
    if (this.#runner !== undefined)
      throw new AgentError(
        "Conflict",
        "This engine has been run. Build another one, or go on from its state in a session.",
        { reason: "AlreadyRun" },
      );
  }
}

/** The events of a run. Whoever leaves early cancels it. */
async function* cancelOnReturn({ events, cancel }: TaskRun): AsyncGenerator<AgentEvent, void, undefined> {
  try {
    yield* events;
  } finally {
    cancel("Nobody follows this run any more.");
  }
}

const rejectUnasked: OnApproval = () => ({ reject: "There is nobody to ask." });

const randomId = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`;
