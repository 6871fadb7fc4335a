import {
  isIntentRecorded,
  programOf,
  type AgentEffect,
  type DispatchedInput,
  type EffectHost,
} from "@moora/agent-core-effects";
import { driveProgram, isHeld, type ProgramDriver } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState, AgentStep } from "@moora/agent-core-state-machine";
import type { EffectRun, RunContext } from "@moora/moorex";
import type { Agent } from "../define-agent.ts";
import type { MachineHooks } from "./machine.ts";
import { StartQueue } from "./start-queue.ts";
import { PendingInput } from "./pending-input.ts";

/** The parts of a host that all effects of a session share. */
export interface SharedHost extends Required<
  Pick<
    EffectHost,
    | "sessionId"
    | "session"
    | "clock"
    | "requests"
    | "current"
    | "isPaused"
    | "untilResumed"
    | "dispatchLate"
    | "notify"
    | "isObserved"
    | "digestOf"
    | "ask"
  >
> {
  readonly context: unknown;
  readonly hold: MachineHooks["hold"];
  readonly files: EffectHost["files"];
  readonly onLateOutput: EffectHost["onLateOutput"];
  /** The code of the agent that has the conversation in a state. */
  readonly codeAt: (state: AgentState) => Pick<Agent<unknown>, "parts" | "runLimits">;
}

/** Runs the programs of the effects of a session. */
export class EffectRunner {
  readonly #shared: SharedHost;
  readonly #starts = new StartQueue();

  constructor(shared: SharedHost) {
    this.#shared = shared;
  }

  runOf(effect: AgentEffect, state: AgentState): EffectRun<AgentStep, PendingInput> {
    return new ProgramRun(this.#shared, this.#starts, effect, state);
  }
}

/** One run of an effect by its program. */
class ProgramRun implements EffectRun<AgentStep, PendingInput> {
  readonly #shared: SharedHost;
  readonly #starts: StartQueue;
  readonly #effect: AgentEffect;
  readonly #state: AgentState;
  #host: RunHost | undefined;

  constructor(shared: SharedHost, starts: StartQueue, effect: AgentEffect, state: AgentState) {
    this.#shared = shared;
    this.#starts = starts;
    this.#effect = effect;
    this.#state = state;
  }

  start(_dispatch: unknown, context: RunContext<AgentStep, PendingInput>): Promise<void> {
    const host = new RunHost(this.#shared, context, this.#shared.codeAt(this.#state));
    this.#host = host;
    return new Promise((done, failed) => {
      const begin = (): void => {
        const held = this.#shared.hold(!isHeld(this.#effect, this.#state));
        if (host.isAborted()) done();
        else if (held !== undefined) void held.then(begin);
        else driveProgram(programOf(this.#effect, this.#state, host), newDriver(context, done, failed));
      };
      // Code of models, tools and handlers never runs within the call that made its effect wanted.
      if (isIntentRecorded(this.#effect, this.#state)) this.#starts.add(begin);
      else begin();
    });
  }

  cancel(): void {
    this.#host?.abort();
  }
}

/** The driver of a program whose inputs go to the machine. */
const newDriver = (
  context: RunContext<AgentStep, PendingInput>,
  done: () => void,
  failed: (error: unknown) => void,
): ProgramDriver => ({
  dispatch: (inputs, next, fail) => post(context, inputs, next, fail),
  done,
  failed,
});

/** Posts inputs as one batch. Calls `next` with whether one of them applied, or `fail` if they could not be dispatched. */
function post(
  context: RunContext<AgentStep, PendingInput>,
  inputs: readonly DispatchedInput[],
  next: (hasApplied: boolean) => void,
  fail: (error: unknown) => void,
): void {
  const pending: PendingInput[] = [];
  const bound = inputs.map((input, index) => {
    if (typeof input === "function") {
      return ({ state }: AgentStep) => {
        const before = pending[index];
        return before?.seq === undefined ? (pending[index] = new PendingInput(input(state))) : before;
      };
    }
    return (pending[index] = new PendingInput(input));
  });
  context.post(bound, (result) => {
    if ("error" in result) fail(result.error);
    else next(pending.some(({ seq }) => seq !== undefined));
  });
}

/** The host of one run. Its signal is created when it is read. */
class RunHost implements EffectHost {
  readonly intended = true;
  readonly #shared: SharedHost;
  readonly #context: RunContext<AgentStep, PendingInput>;
  readonly #code: ReturnType<SharedHost["codeAt"]>;
  #isAborted = false;
  #onAbort: Set<() => void> | undefined;

  constructor(
    shared: SharedHost,
    context: RunContext<AgentStep, PendingInput>,
    code: ReturnType<SharedHost["codeAt"]>,
  ) {
    this.#shared = shared;
    this.#context = context;
    this.#code = code;
  }

  get parts(): EffectHost["parts"] {
    return this.#code.parts;
  }

  get sessionId(): SharedHost["sessionId"] {
    return this.#shared.sessionId;
  }

  get session(): SharedHost["session"] {
    return this.#shared.session;
  }

  get context(): unknown {
    return this.#shared.context;
  }

  get files(): EffectHost["files"] {
    return this.#shared.files;
  }

  get clock(): SharedHost["clock"] {
    return this.#shared.clock;
  }

  get limits(): EffectHost["limits"] {
    return this.#code.runLimits;
  }

  get requests(): SharedHost["requests"] {
    return this.#shared.requests;
  }

  get current(): SharedHost["current"] {
    return this.#shared.current;
  }

  get isPaused(): SharedHost["isPaused"] {
    return this.#shared.isPaused;
  }

  get untilResumed(): SharedHost["untilResumed"] {
    return this.#shared.untilResumed;
  }

  get dispatchLate(): SharedHost["dispatchLate"] {
    return this.#shared.dispatchLate;
  }

  get notify(): SharedHost["notify"] {
    return this.#shared.notify;
  }

  get onLateOutput(): EffectHost["onLateOutput"] {
    return this.#shared.onLateOutput;
  }

  get isObserved(): SharedHost["isObserved"] {
    return this.#shared.isObserved;
  }

  get digestOf(): SharedHost["digestOf"] {
    return this.#shared.digestOf;
  }

  get ask(): SharedHost["ask"] {
    return this.#shared.ask;
  }

  get dispatchNow(): (input: AgentInput) => void {
    return (input) => this.#context.post([new PendingInput(input)]);
  }

  get dispatchAtOnce(): (input: DispatchedInput) => Promise<boolean> {
    return (input) =>
      new Promise((resolve, reject) => {
        post(this.#context, [input], resolve, reject);
      });
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  isAborted(): boolean {
    return this.#isAborted;
  }

  onAbort(callback: () => void): () => void {
    this.#onAbort ??= new Set();
    this.#onAbort.add(callback);
    return () => void this.#onAbort?.delete(callback);
  }

  abort(): void {
    this.#isAborted = true;
    for (const callback of this.#onAbort ?? []) callback();
  }
}
