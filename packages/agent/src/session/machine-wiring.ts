import { intentOf, isIntentRecorded, LlmRequestCache, type AgentEffect } from "@moora/agent-core-effects";
import { isPromise, isRetryWait } from "@moora/agent-core-effects/internal";
import { step, type AgentState, type AgentStep } from "@moora/agent-core-state-machine";
import { digestOf, type ChainHead } from "@moora/event-log";
import type { DetailedDefinition, EffectRun, MoorexNotice } from "@moora/moorex";
import { codeAt } from "../team/member-at.ts";
import { EffectRunner, type SharedHost } from "./effect-run.ts";
import { logIgnored, logLate, lateOutputLogger } from "./log-inputs.ts";
import type { InputLedger, MachineAgent, MachineBase, MachineHooks, PendingStep } from "./machine.ts";
import { MachineErrors } from "./machine-errors.ts";
import { PendingInput } from "./pending-input.ts";
import { RunningEffects } from "./running-effects.ts";

type Notice = MoorexNotice<AgentState, PendingInput, AgentEffect, AgentStep, ChainHead>;

/** The parts of a host that need the runner. */
type LiveHost = Pick<SharedHost, "current" | "isPaused" | "untilResumed" | "dispatchLate">;

/** The functions that connect the runner to the reducer, the effects and the ledger. */
export class MachineWiring {
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
    const { notify, isObserved, ask, session, hold } = hooks;
    this.running = new RunningEffects(base, hooks);
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
      hold,
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
      intentOf: (effect, _key, state) => this.#intentOf(effect, state, host),
      runEffect: (effect, state, key) =>
        this.#mayRun(effect, state) ? runner.runOf(effect, state) : this.#skipEffect(key),
      // A question waits for a human, and so do its expiry and its reminders.
      isBackground: (effect, state) => effect.type === "wait-until" && !isRetryWait(effect, state),
      onNotice: (notice) => this.#onNotice(notice),
      ...(ledger === undefined ? {} : { commit: (steps) => this.#commit(ledger, steps) }),
    };
  }

  /** Resolves when no commit is running and all work has ended that runs then. The work of a commit starts after its listeners were called. */
  async drained(): Promise<void> {
    do await this.#committing;
    while (this.#committing !== undefined);
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
  #intentOf(effect: AgentEffect, state: AgentState, { dispatchLate }: LiveHost): PendingInput | undefined {
    if (this.#base.ledger !== undefined && isIntentRecorded(effect, state)) return undefined;
    const { parts } = codeAt(this.#agent, state);
    const intent = intentOf(effect, state, { parts, clock: this.#base.clock, dispatchLate });
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
