import {
  effectsAt,
  intentOf,
  isIntentRecorded,
  LlmRequestCache,
  type AgentEffect,
} from "@moora/agent-core-effects";
import { isEffectWanted, isHeld, isPromise, isRetryWait } from "@moora/agent-core-effects/internal";
import { isPaused, type AgentState, type AgentStep } from "@moora/agent-core-state-machine";
import {
  intentToStart,
  isIntent,
  stepOfHost,
  viewOf,
  withStarts,
} from "@moora/agent-core-state-machine/internal";
import { digestOf } from "@moora/event-log";
import {
  createMoorex,
  type ContinuedStep,
  type Moorex,
  type MoorexDefinition,
  type MoorexNotice,
} from "@moora/moorex";
import { codeAt } from "../team/member-at.ts";
import { ProgramRun, type SharedHost } from "./effect-run.ts";
import { logIgnored, logLate, lateOutputLogger } from "./log-inputs.ts";
import type { InputLedger, MachineAgent, MachineBase, MachineHooks, PendingStep } from "./machine.ts";
import { MachineErrors } from "./machine-errors.ts";
import { PendingInput } from "./pending-input.ts";
import { StartQueue } from "./start-queue.ts";

type Notice = MoorexNotice<AgentStep, PendingInput, AgentEffect>;

const isWork: Readonly<Record<AgentEffect["type"], boolean>> = {
  "call-llm": true,
  "call-tool": true,
  "probe-tool": true,
  "run-state": true,
  "ask-human": false,
  "wait-until": false,
};

/** The reducer, the effects and the runner of an agent, wired together. */
export class AgentMachine {
  readonly #agent: MachineAgent;
  readonly #base: MachineBase;
  readonly #hooks: MachineHooks;
  readonly #errors: MachineErrors;
  readonly #host: SharedHost;
  readonly #moorex: Moorex<AgentStep, PendingInput, AgentEffect>;
  #seq: number;
  /** Resolves at the next resume; undefined if no work waits for it. */
  #resumed: PromiseWithResolvers<void> | undefined;
  /** The commit that is running; it may contain intents of effects that start after it. */
  #committing: Promise<void> | undefined;
  /** Whether held effects wait for the sessions above. */
  #isWaiting = false;
  #onEnd: (() => void)[] = [];
  /** The error of the first input of the log that could not be applied. No later input is applied. */
  #unapplied: { readonly error: unknown } | undefined;

  constructor(agent: MachineAgent, base: MachineBase, hooks: MachineHooks) {
    this.#agent = agent;
    this.#base = base;
    this.#hooks = hooks;
    this.#errors = new MachineErrors(hooks);
    this.#host = this.#newHost();
    this.#seq = base.seq;
    this.#moorex = createMoorex(this.#definition());
  }

  get dispatch(): Moorex<AgentStep, PendingInput, AgentEffect>["dispatch"] {
    return this.#moorex.dispatch;
  }

  readonly current = (): AgentState => this.#moorex.current().state;

  /** The sequence number of the newest input that became part of the current state. */
  readonly seq = (): number => this.#seq;

  settled(): Promise<void> {
    return this.#moorex.settled();
  }

  stop(): void {
    this.#moorex.stop();
  }

  /**
   * Resolves when all running work has ended: calls of models and tools and custom states, not waits and questions. The work of a
   * commit that is running starts after its listeners were called.
   */
  async drained(): Promise<void> {
    do await this.#committing;
    while (this.#committing !== undefined);
    while (this.#moorex.running().some(({ type }) => isWork[type])) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onEnd.push(resolve);
      await promise;
    }
  }

  /** Resolves when work of this session and below it may begin if nothing else holds it then; undefined if nothing holds it, also no pause. */
  hold(isStarted: boolean): Promise<void> | undefined {
    const held = this.#hooks.hold(isStarted);
    if (held !== undefined || isStarted || !isPaused(this.current())) return held;
    return (this.#resumed ??= Promise.withResolvers()).promise;
  }

  #newHost(): SharedHost {
    const { id, identity: sessionId = id, clock, context, files } = this.#base;
    const { notify, isObserved, ask, session, hold, mayPause, logger } = this.#hooks;
    return {
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
      codeAt: (state) => codeAt(this.#agent, state),
      requests: new LlmRequestCache(),
      starts: new StartQueue(),
      onLateOutput: lateOutputLogger(logger),
      current: this.current,
      isPaused: () => this.hold(false) !== undefined,
      mayPause,
      untilResumed: async () => await this.hold(false),
      // Does nothing after `stop`.
      dispatchLate: (input) => void this.dispatch(new PendingInput(input)).catch(() => undefined),
    };
  }

  #definition(): MoorexDefinition<AgentStep, PendingInput, AgentEffect> {
    const { initial, ledger, runsEffects } = this.#base;
    return {
      initial: () => ({ state: initial, moves: [], changes: [] }),
      transition: (pending) => (before) => this.#transition(pending, before),
      effectsAt: (step) => (runsEffects ? effectsAt(viewOf(step)) : {}),
      isWanted: (_key, step, effect) => isEffectWanted(viewOf(step), effect),
      mayStart: (effect, _key, step) => this.#mayStart(effect, viewOf(step)),
      intentOf: (effect, _key, step) => this.#intentOf(effect, viewOf(step)),
      withIntents: (cause, intents) => this.#withIntents(cause, intents),
      runEffect: (effect, { state }) => new ProgramRun(this.#host, effect, state),
      // A question waits for a human, and so do its expiry and its reminders; a schedule waits for its time.
      isBackground: (effect, { state }) =>
        effect.type === "wait-until" && !isRetryWait(effect, state) && effect.due > this.#base.clock.now(),
      onNotice: this.#onNotice,
      ...(ledger === undefined ? {} : { commit: (steps) => this.#committed(ledger.commit(steps)) }),
    };
  }

  /** Remembers a commit that takes time. */
  #committed(committed: ReturnType<InputLedger["commit"]>): typeof committed {
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
    const { clock, dispatchLate } = this.#host;
    const { parts } = codeAt(this.#agent, state);
    const intent = intentOf(effect, state, { parts, clock, dispatchLate });
    return intent === undefined ? undefined : new PendingInput(intent);
  }

  /** An input with the intents of what it makes wanted, if this host appends it and the log takes one of this length. */
  #withIntents(
    { input: cause, after }: PendingStep,
    intents: readonly PendingInput[],
  ): ContinuedStep<AgentStep, PendingInput> | undefined {
    if (cause.position !== undefined) return undefined;
    const starts = intents.flatMap(({ input }) => (isIntent(input) ? [intentToStart(input)] : []));
    const input = cause.begun(starts);
    // Before the step is continued: it must not be read after that.
    if (this.#base.ledger?.refusalOf(input) !== undefined) return undefined;
    const continued = withStarts(after, starts);
    if (continued === undefined) return undefined;
    const { step: next, begun } = continued;
    // An intent marks work as started, which is wanted before and after that.
    if (begun.length === starts.length) return { input, after: next, wantsSame: true };
    const refused = intents.filter((_, index) => begun.every((start) => start !== starts[index]));
    return { input: cause.begun(begun), after: next, refused };
  }

  /** Whether an effect may start: this host may start effects now, and the sessions above do not hold it. */
  #mayStart(effect: AgentEffect, state: AgentState): boolean {
    const startsAny = this.#base.startsEffects?.(state) ?? true;
    return startsAny && !(this.#isHeldAbove() && isHeld(effect, state));
  }

  /** Whether the sessions above hold new effects, which start when they do not anymore. */
  #isHeldAbove(): boolean {
    const held = this.#hooks.heldAbove(false);
    if (held === undefined) return false;
    if (!this.#isWaiting) {
      void held.then(() => {
        this.#isWaiting = false;
        this.#hooks.reconcile();
      });
    }
    return (this.#isWaiting = true);
  }

  #transition(pending: PendingInput, before: AgentStep): AgentStep {
    if (this.#isAccepted(pending)) return before;
    const { state } = before;
    const after =
      pending.position === undefined ? stepOfHost(pending.input)(state) : this.#follow(pending, state);
    if (after === undefined) return before;
    const refusal = this.#base.ledger?.refusalOf(pending);
    if (refusal !== undefined) throw refusal;
    return after;
  }

  /**
   * The transition for an input of the log. After one that throws, every later one throws the same error: the state lacks an
   * input.
   */
  #follow({ input }: PendingInput, state: AgentState): AgentStep | undefined {
    if (this.#unapplied !== undefined) throw this.#unapplied.error;
    try {
      return stepOfHost(input)(state);
    } catch (error) {
      this.#unapplied = { error };
      throw error;
    }
  }

  /** Whether an input is part of the session already, because an append that was reported as failed had succeeded. */
  #isAccepted({ seq, position }: PendingInput): boolean {
    return seq !== undefined || (position !== undefined && position.seq <= this.#seq);
  }

  readonly #onNotice = (notice: Notice): void => {
    switch (notice.type) {
      case "state-updated":
        return this.#published(notice.input, notice.state);
      case "error-caught":
        return this.#errors.caught(notice);
      case "effect-failed":
        this.#errors.effectFailed(notice);
        return this.#ended();
      case "effect-completed":
      case "effect-canceled":
        return this.#ended();
      case "input-ignored":
        return logIgnored(this.#hooks.logger, notice.input.input, notice.state.state);
      case "input-dropped":
        return logLate(this.#hooks.logger, notice.key);
      case "effect-started":
      case "input-received":
        return;
    }
  };

  #ended(): void {
    if (this.#onEnd.length > 0) for (const resolve of this.#onEnd.splice(0)) resolve();
  }

  #published(pending: PendingInput, published: AgentStep): void {
    this.#seq = pending.seq = pending.position?.seq ?? this.#seq + 1;
    if (pending.input.type === "session-resumed") {
      this.#resumed?.resolve();
      this.#resumed = undefined;
    }
    this.#hooks.published(pending, published, this.#seq);
  }
}
