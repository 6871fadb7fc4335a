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
  type LogListener,
  type OnApproval,
  type Trace,
} from "@moora/agent";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { refusalWithoutReviewer, withOneReviewer } from "@moora/agent/internal";
import { controlName, traceOf } from "@moora/agent-core-state-machine";
import { DurableRunner, toTaskRun, type TaskRun, type RunStorage } from "./durable-runner.ts";
import { SyncRunner } from "./sync-runner.ts";

/** The clock and the ids of an engine. Defaults: the clock of the machine, random ids. */
export interface EngineHost {
  readonly clock?: Clock;
  /** Creates the ids of the session and its message. */
  readonly newId?: (prefix: string) => string;
}

/** Options of an `AgentEngine`. */
export interface EngineOptions extends EngineHost {
  /** Decides the questions to a reviewer. Default: `run` and `runSync` reject them. */
  readonly onApproval?: OnApproval;
  /** What the tools and handlers need of this process. Default: nothing. */
  readonly context?: object;
  /** Receives the log entries of a run that is not synchronous. Default: none. */
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

/** A running task: a session in memory, a session in a log, or a synchronous run. */
interface Runner {
  current(): AgentState;
  trace(): Trace;
  cancel(reason?: string): unknown;
}

/**
 * One task for one agent, run once with `run`, `runSync` or `runStreaming`. A second run is rejected with an `AgentError` of
 * kind `Conflict`: build another engine, or continue the conversation in a session
 * (`startSession(engine.agent, { state: engine.state })`). State, trace and memory remain available after the run.
 */
export class AgentEngine {
  readonly agent: Agent;
  readonly task: string;
  readonly #options: EngineOptions;
  #runner: Runner | undefined;

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
    const onApproval = this.#options.onApproval ?? refusalWithoutReviewer;
    if (this.#options.storage === undefined) return (await this.#ask(onApproval)).text;
    const runner = this.#durableRunner(this.#options.storage, onApproval);
    try {
      return await (await runner.start()).text();
    } finally {
      await runner.close();
    }
  }

  /**
   * Runs the task without a promise, for models with `callSync` and code that returns no promise. Throws where `run` rejects.
   * It never waits: a retry that is due later ends the run as `LlmError`, a tool that returns a promise as `ToolError`, and a
   * decision that is a promise counts as a rejection.
   */
  runSync(): string {
    this.#refuseSecondRun();
    const { clock, newId = randomId, onApproval = refusalWithoutReviewer, storage, context } = this.#options;
    if (storage !== undefined) {
      throw new BuildError("A run with a log is asynchronous: use run().", {
        reason: "NotSynchronous",
      });
    }
    const runner = new SyncRunner(this.agent, { clock, newId, onApproval, context });
    this.#runner = runner;
    return runner.run(this.task);
  }

  /**
   * Runs the task and yields its events; the last one is `FinalAnswer` or `Error`. The task starts when the first event is
   * requested, and leaving the loop early cancels it. Without `onApproval`, an `ApprovalRequested` waits for its `decide`.
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

  /** The current state. A session can continue from it: `startSession(engine.agent, { state })`. */
  get state(): AgentState {
    return this.#runner?.current() ?? initialStateOf(this.agent);
  }

  /** The path through the control graph so far. */
  trace(): EngineTrace {
    const trace = this.#runner?.trace() ?? traceOf([]);
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
    void this.#runner?.cancel(reason);
  }

  #ask(onApproval: OnApproval | undefined): AgentRun {
    this.#refuseSecondRun();
    const { clock, newId = randomId, context, onLog } = this.#options;
    const session = startSession(withOneReviewer(this.agent), {
      id: newId("task"),
      newId,
      ...(context === undefined ? {} : { context }),
      ...(clock === undefined ? {} : { clock }),
      ...(onApproval === undefined ? {} : { onApproval }),
      ...(onLog === undefined ? {} : { onLog }),
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
    const { clock, newId = randomId, context, onLog } = this.#options;
    const host = { clock, newId, onApproval, context, onLog };
    const runner = new DurableRunner(withOneReviewer(this.agent), this.task, { storage, ...host });
    this.#runner = runner;
    return runner;
  }

  #refuseSecondRun(): void {
    if (this.#runner !== undefined) {
      throw new AgentError(
        "Conflict",
        "This engine has already run. Build another one, or continue from its state in a session.",
        { reason: "AlreadyRun" },
      );
    }
  }
}

/** The events of a run, which is canceled if the consumer stops early. */
async function* cancelOnReturn({ events, cancel }: TaskRun): AsyncGenerator<AgentEvent, void, undefined> {
  try {
    yield* events;
  } finally {
    cancel("The consumer stopped reading the events.");
  }
}

const randomId = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`;
