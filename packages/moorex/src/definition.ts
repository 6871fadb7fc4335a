/**
 * One accepted input with the state before and after it. `detail` is what `detailedTransition` returned beside the state;
 * undefined for a plain `transition`.
 */
export interface Step<State, Input, Detail = undefined> {
  readonly input: Input;
  readonly before: State;
  readonly after: State;
  readonly detail: Detail;
}

/** What `detailedTransition` returns: the next state, and any data about how it was reached. */
export interface Transitioned<State, Detail> {
  readonly state: State;
  readonly detail: Detail;
}

/** `applied` counts the inputs of this dispatch that changed the state; `state` is the state after them. */
export interface DispatchResult<State> {
  readonly applied: number;
  readonly state: State;
}

/** Gives inputs to the machine as one atomic batch. */
export type Dispatch<State, Input> = (...inputs: readonly Input[]) => Promise<DispatchResult<State>>;

/**
 * One run of an effect. `start` does the work and dispatches what happened; it learns from `dispatch` whether that
 * applied. `signal` is aborted when the state no longer wants the effect (`AbortError`) or the machine stops
 * (`ShutdownError`); `cancel` is called then, too.
 */
export interface EffectRun<State, Input> {
  start(dispatch: Dispatch<State, Input>, signal: AbortSignal): Promise<void>;
  cancel?(): void;
}

/** An input that is durable already, and its position. */
export interface CommittedInput<Input, Position = undefined> {
  readonly input: Input;
  readonly position?: Position;
}

/**
 * What `commit` returns. `positions`, or nothing: the steps are durable; one position for each step, in order. `before`, if
 * it is not empty: the steps are not durable, since these inputs were committed first.
 */
export type CommitResult<Input, Position = undefined> =
  | { readonly before: readonly CommittedInput<Input, Position>[] }
  | { readonly positions: readonly Position[] }
  | undefined
  | void;

/** What every machine is made of, apart from its transition. */
export interface BaseDefinition<State, Input, Effect, Detail, Position> {
  initial(): State;
  /** Pure. The key is the identity of an effect. */
  effectsAt(state: State): Readonly<Record<string, Effect>>;
  runEffect(effect: Effect, state: State, key: string): EffectRun<State, Input>;
  /** Makes steps durable before anyone sees them. See I5. */
  commit?(
    steps: readonly Step<State, Input, Detail>[],
  ): CommitResult<Input, Position> | Promise<CommitResult<Input, Position>>;
  /** Whether `settled` does not wait for this effect, such as for a timer. Default: it waits for every effect. */
  isBackground?(effect: Effect, state: State): boolean;
  /**
   * Hears every notice, before the subscribers, from creation on: also those of inputs that effects of the initial state
   * dispatch while the machine is being created, which no subscriber can hear.
   */
  onNotice?(notice: MoorexNotice<State, Input, Effect, Detail, Position>): void;
}

/** What a machine is made of. `Position` is what `commit` returns for each input. */
export interface MoorexDefinition<State, Input, Effect, Position = undefined> extends BaseDefinition<
  State,
  Input,
  Effect,
  undefined,
  Position
> {
  /** Pure, total, synchronous. The same reference means that the input did not apply. */
  transition(input: Input): (state: State) => State;
}

/**
 * What a machine is made of whose transition returns more than the next state. The detail of each step is passed to
 * `commit` and is part of the notice of the step.
 */
export interface DetailedDefinition<
  State,
  Input,
  Effect,
  Detail,
  Position = undefined,
> extends BaseDefinition<State, Input, Effect, Detail, Position> {
  /** Pure, total, synchronous. The same reference as `state` means that the input did not apply; its detail is dropped. */
  detailedTransition(input: Input): (state: State) => Transitioned<State, Detail>;
}

/**
 * Where an error came from that has no other way out. `transition`: an input was refused, by a transition that threw.
 * `foreign`: the transition threw for an input of `{ before }`, which is durable: the state continues without it.
 * `effectsAt`: the state is current, its effects are not running. `subscriber`: a listener of notices threw. `commit`:
 * inputs were not made durable. `dispatch`: an input came after `stop`.
 */
export type ErrorSource = "transition" | "foreign" | "effectsAt" | "subscriber" | "commit" | "dispatch";

/**
 * What a machine reports to `onNotice` and to its subscribers. `position` is what `commit` returned for the input,
 * undefined where it returned none.
 */
export type MoorexNotice<State, Input, Effect, Detail = undefined, Position = undefined> =
  | { readonly type: "input-received"; readonly input: Input }
  | { readonly type: "input-ignored"; readonly input: Input; readonly state: State }
  | {
      readonly type: "state-updated";
      readonly input: Input;
      readonly before: State;
      readonly state: State;
      readonly detail: Detail;
      readonly position: Position | undefined;
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
       * The effect whose input it was; after a failed commit, one whose input is kept and committed again. Absent where only
       * inputs from outside are concerned: their dispatches reject.
       */
      readonly key?: string;
    };

/** A running machine. Its methods can be passed on by themselves. */
export interface Moorex<State, Input, Effect, Detail = undefined, Position = undefined> {
  /** One atomic batch. Rejects when the transition or `commit` throws, and after `stop`; each is a notice as well. */
  dispatch: Dispatch<State, Input>;
  /** The newest committed state. */
  current(): State;
  /** Calls back with every notice from now on. Returns a function that unsubscribes. */
  subscribe(listener: (notice: MoorexNotice<State, Input, Effect, Detail, Position>) => void): () => void;
  /** Resolves when no input waits, no commit runs and no effect runs but those that are `isBackground`. */
  settled(): Promise<void>;
  /**
   * Aborts what runs, starts nothing more, also when it is called while effects start, and takes no more inputs. What a
   * commit already made durable is still published.
   */
  stop(): void;
}
