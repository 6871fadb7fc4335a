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
import type { StartQueue } from "./start-queue.ts";
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
    | "mayPause"
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
  readonly starts: StartQueue;
  readonly files: EffectHost["files"];
  readonly onLateOutput: EffectHost["onLateOutput"];
  /** The code of the agent that has the conversation in a state. */
  readonly codeAt: (state: AgentState) => Pick<Agent<unknown>, "parts" | "runLimits">;
}

/** One run of an effect by its program. */
export class ProgramRun implements EffectRun<AgentStep, PendingInput> {
  readonly #shared: SharedHost;
  readonly #effect: AgentEffect;
  readonly #state: AgentState;
  #host: RunHost | undefined;

  constructor(shared: SharedHost, effect: AgentEffect, state: AgentState) {
    this.#shared = shared;
    this.#effect = effect;
    this.#state = state;
  }

  start(_dispatch: unknown, context: RunContext<AgentStep, PendingInput>): Promise<void> {
    return new Promise((done, failed) => {
      const host = new RunHost(this.#shared, context, this.#shared.codeAt(this.#state), { done, failed });
      this.#host = host;
      const begin = (): void => {
        const held = this.#shared.hold(!isHeld(this.#effect, this.#state));
        if (host.isAborted()) done();
        else if (held !== undefined) void held.then(begin);
        else driveProgram(programOf(this.#effect, this.#state, host), host);
      };
      // Code of models, tools and handlers never runs within the call that made its effect wanted.
      if (isIntentRecorded(this.#effect, this.#state)) this.#shared.starts.add(begin);
      else begin();
    });
  }

  cancel(): void {
    this.#host?.abort();
  }
}

/**
 * The host of one run, and the driver that posts the inputs of its program. Its signal is created when it is read. Made field by field, since
 * `Object.assign` is slow.
 */
class RunHost implements EffectHost, ProgramDriver {
  declare readonly sessionId: SharedHost["sessionId"];
  declare readonly session: SharedHost["session"];
  declare readonly context: unknown;
  declare readonly files: SharedHost["files"];
  declare readonly clock: SharedHost["clock"];
  declare readonly requests: SharedHost["requests"];
  declare readonly current: SharedHost["current"];
  declare readonly isPaused: SharedHost["isPaused"];
  declare readonly mayPause: SharedHost["mayPause"];
  declare readonly untilResumed: SharedHost["untilResumed"];
  declare readonly dispatchLate: SharedHost["dispatchLate"];
  declare readonly notify: SharedHost["notify"];
  declare readonly onLateOutput: SharedHost["onLateOutput"];
  declare readonly isObserved: SharedHost["isObserved"];
  declare readonly digestOf: SharedHost["digestOf"];
  declare readonly ask: SharedHost["ask"];
  readonly intended = true;
  readonly parts: EffectHost["parts"];
  readonly limits: EffectHost["limits"];
  readonly done: ProgramDriver["done"];
  readonly failed: ProgramDriver["failed"];
  readonly #context: RunContext<AgentStep, PendingInput>;
  #isAborted = false;
  #onAbort: Set<() => void> | undefined;

  constructor(
    shared: SharedHost,
    context: RunContext<AgentStep, PendingInput>,
    { parts, runLimits }: ReturnType<SharedHost["codeAt"]>,
    { done, failed }: Pick<ProgramDriver, "done" | "failed">,
  ) {
    this.sessionId = shared.sessionId;
    this.session = shared.session;
    this.context = shared.context;
    this.files = shared.files;
    this.clock = shared.clock;
    this.requests = shared.requests;
    this.current = shared.current;
    this.isPaused = shared.isPaused;
    this.mayPause = shared.mayPause;
    this.untilResumed = shared.untilResumed;
    this.dispatchLate = shared.dispatchLate;
    this.notify = shared.notify;
    this.onLateOutput = shared.onLateOutput;
    this.isObserved = shared.isObserved;
    this.digestOf = shared.digestOf;
    this.ask = shared.ask;
    this.parts = parts;
    this.limits = runLimits;
    this.done = done;
    this.failed = failed;
    this.#context = context;
  }

  /** Posts inputs as one batch. Calls `next` with whether one of them applied, or `fail` if they could not be dispatched. */
  dispatch(
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
    this.#context.post(bound, (result) => {
      if ("error" in result) fail(result.error);
      else next(pending.some(({ seq }) => seq !== undefined));
    });
  }

  get dispatchNow(): (input: AgentInput) => void {
    return (input) => this.#context.post([new PendingInput(input)]);
  }

  get dispatchAtOnce(): (input: DispatchedInput) => Promise<boolean> {
    return (input) => new Promise((resolve, reject) => this.dispatch([input], resolve, reject));
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
