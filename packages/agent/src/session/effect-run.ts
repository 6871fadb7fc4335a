import { programOf, type AgentEffect, type EffectHost } from "@moora/agent-core-effects";
import { driveProgram, isIntentRecorded, type ProgramDriver } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import type { EffectRun, RunContext } from "@moora/moorex";
import { Microtask } from "./microtask.ts";
import { PendingInput } from "./pending-input.ts";

/** The parts of a host that all effects of a session share. */
export type SharedHost = Required<
  Pick<
    EffectHost,
    "parts" | "sessionId" | "clock" | "limits" | "current" | "dispatchLate" | "notify" | "digestOf" | "ask"
  >
>;

/** Runs the programs of the effects of a session. */
export class EffectRunner {
  readonly #shared: SharedHost;
  readonly #microtask = new Microtask();

  constructor(shared: SharedHost) {
    this.#shared = shared;
  }

  runOf(effect: AgentEffect, state: AgentState): EffectRun<AgentState, PendingInput> {
    return new ProgramRun(this.#shared, this.#microtask, effect, state);
  }
}

/** One run of an effect by its program. */
class ProgramRun implements EffectRun<AgentState, PendingInput> {
  readonly #shared: SharedHost;
  readonly #microtask: Microtask;
  readonly #effect: AgentEffect;
  readonly #state: AgentState;
  #host: RunHost | undefined;

  constructor(shared: SharedHost, microtask: Microtask, effect: AgentEffect, state: AgentState) {
    this.#shared = shared;
    this.#microtask = microtask;
    this.#effect = effect;
    this.#state = state;
  }

  start(_dispatch: unknown, context: RunContext<AgentState, PendingInput>): Promise<void> {
    const host = new RunHost(this.#shared, context);
    this.#host = host;
    return new Promise((done, failed) => {
      const begin = (): void => {
        if (host.isAborted()) done();
        else driveProgram(programOf(this.#effect, this.#state, host), newDriver(context, done, failed));
      };
      // Code of models, tools and handlers never runs within the call that made its effect wanted.
      if (isIntentRecorded(this.#effect, this.#state)) this.#microtask.add(begin);
      else begin();
    });
  }

  cancel(): void {
    this.#host?.abort();
  }
}

/** The driver of a program whose inputs go to the machine. */
const newDriver = (
  context: RunContext<AgentState, PendingInput>,
  done: () => void,
  failed: (error: unknown) => void,
): ProgramDriver => ({
  dispatch(inputs, next, fail) {
    const pending = inputs.map((input) => new PendingInput(input));
    context.post(pending, (result) => {
      if ("error" in result) fail(result.error);
      else next(pending.some(({ seq }) => seq !== undefined));
    });
  },
  done,
  failed,
});

/** The host of one run. Its signal is created when it is read. */
class RunHost implements EffectHost {
  readonly parts: SharedHost["parts"];
  readonly sessionId: SharedHost["sessionId"];
  readonly clock: SharedHost["clock"];
  readonly limits: SharedHost["limits"];
  readonly current: SharedHost["current"];
  readonly dispatchLate: SharedHost["dispatchLate"];
  readonly notify: SharedHost["notify"];
  readonly digestOf: SharedHost["digestOf"];
  readonly ask: SharedHost["ask"];
  readonly intended = true;
  readonly dispatchNow = (input: AgentInput): void => this.#context.post([new PendingInput(input)]);
  readonly #context: RunContext<AgentState, PendingInput>;
  #isAborted = false;
  readonly #onAbort = new Set<() => void>();

  constructor(shared: SharedHost, context: RunContext<AgentState, PendingInput>) {
    this.parts = shared.parts;
    this.sessionId = shared.sessionId;
    this.clock = shared.clock;
    this.limits = shared.limits;
    this.current = shared.current;
    this.dispatchLate = shared.dispatchLate;
    this.notify = shared.notify;
    this.digestOf = shared.digestOf;
    this.ask = shared.ask;
    this.#context = context;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  isAborted(): boolean {
    return this.#isAborted;
  }

  onAbort(callback: () => void): () => void {
    this.#onAbort.add(callback);
    return () => void this.#onAbort.delete(callback);
  }

  abort(): void {
    this.#isAborted = true;
    for (const callback of this.#onAbort) callback();
  }
}
