import {
  intentOf,
  isIntentRecorded,
  LlmRequestCache,
  type AgentEffect,
  type AskHumanEffect,
  type Clock,
  type Progress,
} from "@moora/agent-core-effects";
import { isPromise, isRetryWait } from "@moora/agent-core-effects/internal";
import {
  isPaused,
  step,
  type AgentInput,
  type AgentState,
  type AgentStep,
} from "@moora/agent-core-state-machine";
import { digestOf, type ChainHead, type MaybePromise } from "@moora/event-log";
import {
  createMoorex,
  type CommitResult,
  type DetailedDefinition,
  type EffectRun,
  type Moorex,
  type MoorexNotice,
  type Step,
} from "@moora/moorex";
import type { Agent } from "../define-agent.ts";
import type { Logger } from "../logger.ts";
import { codeAt } from "../team/member-at.ts";
import { EffectRunner, type SharedHost } from "./effect-run.ts";
import { MachineErrors, type MachineErrorHooks } from "./machine-errors.ts";
import { PendingInput } from "./pending-input.ts";
import { logIgnored, logLate, lateOutputLogger } from "./log-inputs.ts";
import type { SessionFiles } from "./session-files.ts";
import { RunningEffects } from "./running-effects.ts";

/** An accepted input that is not stored yet, with its transition. */
export type PendingStep = Step<AgentState, PendingInput, AgentStep>;

/** Stores accepted inputs before they become visible. */
export interface InputLedger {
  /** Makes steps durable and returns their positions. Returns `before` if other inputs precede them; nothing is stored then. */
  commit(steps: readonly PendingStep[]): MaybePromise<CommitResult<PendingInput, ChainHead>>;
  /** Throws for an input that cannot be stored. */
  check(pending: PendingInput): void;
}

/** The options from which a machine is created: its initial state, its rights, and where its inputs are stored. */
export interface MachineBase {
  readonly id: string;
  /** Names the session in idempotency keys and in the digests of questions. Default: its id. */
  readonly identity?: string;
  readonly initial: AgentState;
  /** The number of inputs that led to `initial`. */
  readonly seq: number;
  readonly clock: Clock;
  /** What the host gives to the tools and handlers of the agent. Default: nothing. */
  readonly context?: unknown;
  /** Where the bytes of files are stored. Default: in the inputs. */
  readonly files?: SessionFiles | undefined;
  /** Whether this host runs effects. If not, it only reads and posts. */
  readonly runsEffects: boolean;
  /** Whether this host may start the effects of a state now; running ones continue. Default: yes. */
  readonly startsEffects?: (state: AgentState) => boolean;
  /** Whether a session that calls this one is paused: then no new work starts, as in a pause. Default: never. */
  readonly isCallerPaused?: () => boolean;
  readonly ledger?: InputLedger;
}

/** An input that has become part of the session, with its transition. */
export interface PublishedStep {
  readonly input: AgentInput;
  readonly step: AgentStep;
  readonly seq: number;
  /** The position in the log; undefined for a session in memory. */
  readonly position: ChainHead | undefined;
}

export interface MachineHooks extends MachineErrorHooks {
  readonly logger: Logger;
  readonly notify: (notice: Progress) => void;
  /** Whether anything receives progress besides text. */
  readonly isObserved: () => boolean;
  readonly ask: (effect: AskHumanEffect) => Promise<AgentInput | undefined>;
  /** The session in the contexts of its tools. */
  readonly session: object;
  /** Called with each accepted input when its state has become the current one. */
  readonly published: (published: PublishedStep) => void;
}

type MachineAgent = Pick<Agent<unknown>, "parts" | "runLimits" | "team">;

/** The reducer, the effects and the runner of an agent, wired together. */
export interface AgentMachine extends Pick<
  Moorex<AgentState, PendingInput, AgentEffect>,
  "dispatch" | "current" | "settled" | "stop"
> {
  /** The sequence number of the newest input that became part of the current state. */
  seq(): number;
  /** Resolves when all running work has ended: calls of models and tools and custom states, not waits and questions. */
  drained(): Promise<void>;
}

export function agentMachine(agent: MachineAgent, base: MachineBase, hooks: MachineHooks): AgentMachine {
  const wiring = new MachineWiring(agent, base, hooks);
  const isHeld = (): boolean => isPaused(current()) || base.isCallerPaused?.() === true;
  const untilResumed = async (): Promise<void> => {
    if (isHeld()) await wiring.nextResume();
  };
  const moorex = createMoorex(wiring.definition({ current, isPaused: isHeld, untilResumed, dispatchLate }));
  function current(): AgentState {
    return moorex.current();
  }
  /** Dispatches an input of a late effect; does nothing after `stop`. */
  function dispatchLate(input: AgentInput): void {
    moorex.dispatch(new PendingInput(input)).catch(() => undefined);
  }
  return {
    dispatch: moorex.dispatch,
    current,
    settled: moorex.settled,
    stop: moorex.stop,
    seq: () => wiring.seq,
    drained: () => wiring.drained(),
  };
}

type Notice = MoorexNotice<AgentState, PendingInput, AgentEffect, AgentStep, ChainHead>;

/** The parts of a host that need the runner. */
type LiveHost = Pick<SharedHost, "current" | "isPaused" | "untilResumed" | "dispatchLate">;

/** The functions that connect the runner to the reducer, the effects and the ledger. */
class MachineWiring {
  readonly running: RunningEffects;
  readonly #agent: MachineAgent;
  readonly #base: MachineBase;
  readonly #hooks: MachineHooks;
  readonly #errors: MachineErrors;
  readonly #hostBase: Omit<SharedHost, keyof LiveHost>;
  #seq: number;
  /** Resolves at the next resume; undefined if no work waits for it. */
  #resumed: PromiseWithResolvers<void> | undefined;
  /** The commit that is running; it may contain intents of effects that start after it. */
  #committing: Promise<void> | undefined;
  /** The error of the first input of the log that could not be applied. No later input is applied. */
  #unapplied: { readonly error: unknown } | undefined;

  constructor(agent: MachineAgent, base: MachineBase, hooks: MachineHooks) {
    this.#agent = agent;
    const { id, identity: sessionId = id, clock, context, files } = base;
    const { notify, isObserved, ask, session } = hooks;
    this.running = new RunningEffects(base);
    this.#base = base;
    this.#hooks = hooks;
    this.#errors = new MachineErrors(hooks);
    this.#hostBase = {
      codeAt: (state) => codeAt(agent, state),
      sessionId,
      session,
      context,
      files,
      clock,
      digestOf,
      notify,
      isObserved,
      ask,
      requests: new LlmRequestCache(),
      onLateOutput: lateOutputLogger(hooks.logger),
    };
    this.#seq = base.seq;
  }

  get seq(): number {
    return this.#seq;
  }

  /** The definition of the runner. `dispatchLate` dispatches for an effect that the state no longer wants. */
  definition(
    host: LiveHost,
  ): DetailedDefinition<AgentState, PendingInput, AgentEffect, AgentStep, ChainHead> {
    const { initial, ledger } = this.#base;
    const runner = new EffectRunner({ ...this.#hostBase, ...host });
    return {
      initial: () => initial,
      detailedTransition: (pending) => (state) => {
        const detail = this.#step(pending, state);
        return { state: detail.state, detail };
      },
      effectsAt: (state) => this.running.wantedAt(state),
      isWanted: (key, state) => this.running.isWanted(key, state),
      intentOf: (effect, _key, state) => this.#intentOf(effect, state),
      runEffect: (effect, state, key) =>
        this.#mayRun(effect, state) ? runner.runOf(effect, state) : this.#skipEffect(key),
      // A question waits for a human, and so do its expiry and its reminders.
      isBackground: (effect, state) => effect.type === "wait-until" && !isRetryWait(effect, state),
      onNotice: (notice) => this.#onNotice(notice),
      ...(ledger === undefined ? {} : { commit: (steps) => this.#commit(ledger, steps) }),
    };
  }

  /** Resolves when no commit is running and all work has ended that runs then. */
  async drained(): Promise<void> {
    while (this.#committing !== undefined) await this.#committing;
    await this.running.drained();
  }

  /** Resolves at the next resume. */
  nextResume(): Promise<void> {
    return (this.#resumed ??= Promise.withResolvers()).promise;
  }

  #commit(ledger: InputLedger, steps: readonly PendingStep[]): ReturnType<InputLedger["commit"]> {
    const committed = ledger.commit(steps);
    if (isPromise(committed)) {
      const ended = (): void => (this.#committing = undefined);
      this.#committing = committed.then(ended, ended);
    }
    return committed;
  }

  /**
   * The intent of an effect; undefined for an effect that needs none. If the state of a log contains the intent of an effect
   * that does not run here, this host appended it in a commit that was reported as failed: the opening of the session has
   * interrupted all earlier work, and only its owner appends intents. Such an effect may start.
   */
  #intentOf(effect: AgentEffect, state: AgentState): PendingInput | undefined {
    if (this.#base.ledger !== undefined && isIntentRecorded(effect, state)) return undefined;
    const { parts } = codeAt(this.#agent, state);
    const intent = intentOf(effect, state, { parts, clock: this.#base.clock });
    return intent === undefined ? undefined : new PendingInput(intent);
  }

  /** Whether an effect may run: new effects may start now, or its intent was committed when they still might. */
  #mayRun(effect: AgentEffect, state: AgentState): boolean {
    return this.running.startsEffects(state) || isIntentRecorded(effect, state);
  }

  #step(pending: PendingInput, state: AgentState): AgentStep {
    if (this.#isAccepted(pending)) return { state, moves: [], changes: [] };
    const stepped =
      pending.position === undefined ? step(pending.input)(state) : this.#follow(pending, state);
    if (stepped.state !== state) this.#base.ledger?.check(pending);
    return stepped;
  }

  /**
   * The transition for an input of the log. After one that throws, every later one throws the same error: the state lacks an
   * input.
   */
  #follow({ input }: PendingInput, state: AgentState): AgentStep {
    if (this.#unapplied !== undefined) throw this.#unapplied.error;
    try {
      return step(input)(state);
    } catch (error) {
      this.#unapplied = { error };
      throw error;
    }
  }

  /** Whether an input is part of the session already, because an append that was reported as failed had succeeded. */
  #isAccepted({ seq, position }: PendingInput): boolean {
    return seq !== undefined || (position !== undefined && position.seq <= this.#seq);
  }

  /**
   * A run without work for an effect that is wanted when the session has been closed already. The stop of the machine ends it.
   */
  #skipEffect(key: string): EffectRun<AgentState, PendingInput> {
    this.running.remove(key);
    return { start: () => new Promise(() => undefined) };
  }

  #onNotice(notice: Notice): void {
    switch (notice.type) {
      case "state-updated":
        return this.#publish(notice);
      case "error-caught":
        return this.#errors.caught(notice);
      case "effect-started":
        return this.running.add(notice.key, notice.effect);
      case "effect-failed":
        this.#errors.effectFailed(notice);
        return this.running.remove(notice.key);
      case "effect-completed":
      case "effect-canceled":
        return this.running.remove(notice.key);
      case "input-ignored":
        return logIgnored(this.#hooks.logger, notice.input.input, notice.state);
      case "input-dropped":
        return logLate(this.#hooks.logger, notice.key);
      case "input-received":
        return;
    }
  }

  #publish({ input: pending, detail, position }: Extract<Notice, { type: "state-updated" }>): void {
    const seq = position?.seq ?? this.#seq + 1;
    this.#seq = seq;
    pending.acceptAs(seq);
    if (pending.input.type === "session-resumed") {
      this.#resumed?.resolve();
      this.#resumed = undefined;
    }
    this.#hooks.published({ input: pending.input, step: detail, seq, position });
  }
}
