/** One accepted input with the state before and after it. */
export interface Step<State, Input> {
  readonly input: Input;
  readonly before: State;
  readonly after: State;
}

/**
 * A step whose input has become one with intents. `refused`: those that did not apply. `wantsSame`: whether the state wants the same effects
 * as before the intents, so that `effectsAt` is not asked again. Default: false.
 */
export interface ContinuedStep<State, Input> {
  readonly input: Input;
  readonly after: State;
  readonly refused?: readonly Input[];
  readonly wantsSame?: boolean;
}

/** The result of a dispatch. `applied` is the number of its inputs that changed the state; `state` is the state after them. */
export interface DispatchResult<State> {
  readonly applied: number;
  readonly state: State;
}

/**
 * Returns an input for the state at its turn in the queue, or undefined for none. Must be pure: it is called again after
 * `{ before }` and after a failed commit. An exception counts as one of the transition.
 */
export type LateInput<State, Input> = (state: State) => Input | undefined;

/** An input, or a function that returns it at its turn. An input itself must not be a function. */
export type DispatchedInput<State, Input> = Input | LateInput<State, Input>;

/**
 * Dispatches inputs to the machine as one atomic batch. The batch of an effect counts if it was dispatched before `start`
 * ended and the state has wanted the key of the effect since, whether or not `start` waits for the result. Else it is
 * dropped: `applied` is 0, and an `input-dropped` notice reports each of its inputs.
 */
export type Dispatch<State, Input> = (
  ...inputs: readonly DispatchedInput<State, Input>[]
) => Promise<DispatchResult<State>>;

/** The result of a batch, or the error with which it was refused. */
export type BatchResult<State> = DispatchResult<State> | { readonly error: unknown };

/** The context of a run of an effect. */
export interface RunContext<State, Input> {
  /**
   * Aborted when the state no longer wants the effect (`AbortError`) and when the machine stops (`ShutdownError`). An effect
   * whose own input is why the state no longer wants it is not aborted before the machine stops. The signal is created when it
   * is read for the first time.
   */
  readonly signal: AbortSignal;
  /**
   * Dispatches one atomic batch like `dispatch`, without a promise. Calls `settled` with its result: after the effects have
   * been reconciled, within the call if the batch is processed at once.
   */
  post(
    inputs: readonly DispatchedInput<State, Input>[],
    settled?: (result: BatchResult<State>) => void,
  ): void;
}

/**
 * One run of an effect. `start` does the work and dispatches its results; the promise of `dispatch` resolves with whether
 * they applied. `cancel` is called with the reason of the abort when `context.signal` is aborted, or would be if it had
 * been read. An error of `start` is reported: as `effect-failed` while the state wants the effect, else as `error-caught`. After
 * an abort, its reason and errors with the name `AbortError` are not reported.
 */
export interface EffectRun<State, Input> {
  start(dispatch: Dispatch<State, Input>, context: RunContext<State, Input>): Promise<void>;
  cancel?(reason: DOMException): void;
}

/** An input that is already durable. */
export interface CommittedInput<Input> {
  readonly input: Input;
}

/**
 * The result of `commit`. With nothing, the steps are durable. With a `before` that is not empty, the steps are not durable, because
 * these inputs were committed first. A result of another form, such as null, counts as a failed commit.
 */
export type CommitResult<Input> = { readonly before: readonly CommittedInput<Input>[] } | undefined | void;

/** The definition of a machine. */
export interface MoorexDefinition<State, Input, Effect> {
  initial(): State;
  /** Returns the next state. Must be pure, total and synchronous. The same reference means that the input did not apply. */
  transition(input: Input): (state: State) => State;
  /** Returns the wanted effects of a state by key. Must be pure. The key is the identity of an effect. */
  effectsAt(state: State): Readonly<Record<string, Effect>>;
  /**
   * Whether a state wants an effect that has started, by its key. Must be pure, and true exactly if `effectsAt` contains the
   * key. Default: looks for the key in `effectsAt`. Give it where `effectsAt` is expensive and many effects run at once.
   */
  isWanted?(key: string, state: State, effect: Effect): boolean;
  /**
   * Whether an effect that the state wants, and that has not started, may start now. Default: every effect may. What may not is
   * asked about again when the effects are reconciled the next time, such as after an empty dispatch. Asked before
   * the intent of an effect is made; and once more before the start of an effect that has none. An effect for which it throws does
   * not start.
   */
  mayStart?(effect: Effect, key: string, state: State): boolean;
  /**
   * Returns the intent of an effect: the input that records that the effect is about to start. It is transitioned and
   * committed with the inputs that made the effect wanted, and the effect starts only after that. Undefined for an effect
   * that needs none; it starts without one. Default: no effect has an intent. An effect whose intent does not apply is not
   * run and counts as finished; if this function or the transition of the intent throws, it counts as failed. Called again
   * after `{ before }` and after a failed commit.
   */
  intentOf?(effect: Effect, key: string, state: State): Input | undefined;
  /**
   * Makes intents a part of the step that caused them: returns an input whose transition is that of the input of the step and
   * then of the intents, and the state after it. Called with the last step of a group. `refused`: those that do not apply; their effects are not
   * run. Returns undefined if the intents must be inputs of their own, as they are in a group without a step, and if this
   * function is not given. If it throws, a notice reports it, and they are inputs of their own.
   */
  withIntents?(step: Step<State, Input>, intents: readonly Input[]): ContinuedStep<State, Input> | undefined;
  runEffect(effect: Effect, state: State, key: string): EffectRun<State, Input>;
  /**
   * Schedules the processing of inputs that effects dispatch while other effects run, so that those which arrive until then
   * form one group. Must call `process` once, later. Default: a microtask.
   */
  defer?(process: () => void): void;
  /** Makes steps durable before they become visible. Default: inputs are not stored. See I5. */
  commit?(steps: readonly Step<State, Input>[]): CommitResult<Input> | Promise<CommitResult<Input>>;
  /** Whether `settled` does not wait for this effect, such as for a timer. Default: it waits for every effect. */
  isBackground?(effect: Effect, state: State): boolean;
  /**
   * Called with every notice from creation on, before the subscribers. That includes the notices of inputs that effects
   * of the initial state dispatch while the machine is being created, before any subscriber exists.
   */
  onNotice?(notice: MoorexNotice<State, Input, Effect>): void;
}

/**
 * The source of an error that a notice reports. `transition`: the transition threw, and its input was refused.
 * `effectsAt`: `effectsAt`, `isWanted`, `mayStart` or `withIntents` threw; the state is current, and only after `withIntents` do its effects run. `subscriber`: a listener of notices
 * threw. `commit`: inputs were not made durable. `dispatch`: an input was dispatched after `stop`. `effect`: a run of an effect threw that
 * is not running anymore, or its `cancel` or a callback of `post` did.
 */
export type ErrorSource =
  | "transition"
  | "foreign"
  | "effectsAt"
  | "subscriber"
  | "commit"
  | "dispatch"
  | "effect";

/**
 * A notice of a machine to `onNotice` and to its subscribers. `input-dropped`: an input of the effect with this key came too late; see `Dispatch`. A late-bound
 * input is reported as the function. Each `effect-started` is followed by one notice of the end of the run: completed, failed
 * or canceled.
 */
export type MoorexNotice<State, Input, Effect> =
  | { readonly type: "input-received"; readonly input: Input }
  | { readonly type: "input-ignored"; readonly input: Input; readonly state: State }
  | { readonly type: "input-dropped"; readonly key: string; readonly input: DispatchedInput<State, Input> }
  | {
      readonly type: "state-updated";
      readonly input: Input;
      readonly before: State;
      readonly state: State;
    }
  | { readonly type: "effect-started"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-completed"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-failed"; readonly key: string; readonly effect: Effect; readonly error: unknown }
  | { readonly type: "effect-canceled"; readonly key: string; readonly effect: Effect }
  | {
      readonly type: "error-caught";
      readonly source: ErrorSource;
      readonly error: unknown;
      /**
       * The effect that threw or that dispatched the input. After a failed commit: an effect whose input is kept, or a wanted effect
       * that has not begun; the next dispatch, such as an empty one, commits them again. Absent if all inputs came
       * from outside: their dispatches reject.
       */
      readonly key?: string;
    };

/** A running machine. Its methods are bound and can be passed as callbacks. */
export interface Moorex<State, Input, Effect> {
  /** Dispatches one atomic batch. Rejects if the transition or `commit` throws, and after `stop`; a notice reports each too. */
  dispatch: Dispatch<State, Input>;
  /** The newest committed state. */
  current(): State;
  /** The effects whose runs have started and not ended, in the order of their starts. */
  running(): readonly Effect[];
  /** Calls the listener with every later notice. Returns a function that unsubscribes. */
  subscribe(listener: (notice: MoorexNotice<State, Input, Effect>) => void): () => void;
  /**
   * Resolves when no input waits, no commit runs, and no `start` runs that has not been aborted. So it waits for an effect that
   * its own input has retired, until `start` ends; not for one that was canceled, and not for background effects. An input
   * that a failed commit has left waits for the next dispatch.
   */
  settled(): Promise<void>;
  /** Aborts running effects and refuses later inputs. Inputs of a running commit are still published when they are durable. */
  stop(): void;
}
