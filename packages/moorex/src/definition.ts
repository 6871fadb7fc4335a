/** One accepted input with the state before and after it. */
export interface Step<State, Input> {
  readonly input: Input;
  readonly before: State;
  readonly after: State;
}

/** `applied` counts the inputs of this dispatch that changed the state; `state` is the state after them. */
export interface DispatchResult<State> {
  readonly applied: number;
  readonly state: State;
}

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

/** What `commit` found in its way: inputs that others appended first, or nothing. */
export type CommitResult<Input> = { readonly before: readonly Input[] } | undefined | void;

export interface MoorexDefinition<State, Input, Effect> {
  initial(): State;
  /** Pure, total, synchronous. The same reference means that the input did not apply. */
  transition(input: Input): (state: State) => State;
  /** Pure. The key is the identity of an effect. */
  effectsAt(state: State): Readonly<Record<string, Effect>>;
  runEffect(effect: Effect, state: State, key: string): EffectRun<State, Input>;
  /** Makes steps durable before anyone sees them. See I5. */
  commit?(steps: readonly Step<State, Input>[]): CommitResult<Input> | Promise<CommitResult<Input>>;
  /**
   * Hears every notice, before the subscribers, from creation on: also those of inputs that effects of the initial state
   * dispatch while the machine is being created, which no subscriber can hear.
   */
  onNotice?(notice: MoorexNotice<State, Input, Effect>): void;
}

/**
 * Where an error came from that has no other way out. `transition`: an input was refused, by a transition that threw.
 * `effectsAt`: the state is current, its effects are not running. `subscriber`: a listener of notices threw. `commit`:
 * inputs were not made durable. `dispatch`: an input came after `stop`.
 */
export type ErrorSource = "transition" | "effectsAt" | "subscriber" | "commit" | "dispatch";

/** What a machine reports to `onNotice` and to its subscribers. */
export type MoorexNotice<State, Input, Effect> =
  | { readonly type: "input-received"; readonly input: Input }
  | { readonly type: "input-ignored"; readonly input: Input; readonly state: State }
  | { readonly type: "state-updated"; readonly input: Input; readonly before: State; readonly state: State }
  | { readonly type: "effect-started"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-completed"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-failed"; readonly key: string; readonly effect: Effect; readonly error: unknown }
  | { readonly type: "effect-canceled"; readonly key: string; readonly effect: Effect }
  | {
      readonly type: "error-caught";
      readonly source: ErrorSource;
      readonly error: unknown;
      /**
       * The effect whose input it was; after a failed commit, one whose input is kept and offered again. Absent where only
       * inputs from outside are concerned: their dispatches reject.
       */
      readonly key?: string;
    };

export interface Moorex<State, Input, Effect> {
  /** One atomic batch. Rejects when `transition` or `commit` throws, and after `stop`; each is a notice as well. */
  dispatch: Dispatch<State, Input>;
  /** The newest committed state. */
  current(): State;
  /** Calls back with every notice from now on. Returns a function that unsubscribes. */
  subscribe(listener: (notice: MoorexNotice<State, Input, Effect>) => void): () => void;
  /** Resolves when no input waits, no commit runs and no effect runs. */
  settled(): Promise<void>;
  /** Aborts what runs and takes no more inputs; what a commit already made durable is still published. */
  stop(): void;
}
