import type {
  BatchResult,
  ContinuedStep,
  DispatchedInput,
  EffectRun,
  LateInput,
  MoorexDefinition,
  RunContext,
  Step,
} from "./definition.ts";

/** The inputs of one dispatch. */
export interface Batch<State, Input, Effect> {
  readonly inputs: readonly DispatchedInput<State, Input>[];
  /** The run that dispatched the batch; undefined for a dispatch from outside. */
  readonly run: Run<State, Input, Effect> | undefined;
  /** Called once with the result, after the effects have been reconciled. */
  readonly settled: ((result: BatchResult<State>) => void) | undefined;
  result: BatchResult<State> | undefined;
}

/** One run of an effect. */
export class Run<State, Input, Effect> implements RunContext<State, Input> {
  readonly key: string;
  readonly effect: Effect;
  /**
   * `ended`: `start` has ended; its later inputs are dropped, those that wait are not. `retired`: the state no longer wants
   * the effect, or the machine was stopped; the inputs that wait are dropped as well.
   */
  phase: "running" | "ended" | "retired" = "running";
  /** Whether an accepted batch of this run retired it, so that its end counts as a completion, not as a cancellation. */
  isAnswered = false;
  /** How much it counts in the foreground, for which `settled` waits: 0 for a background effect. */
  foreground: 0 | 1 = 1;
  /** Its `cancel` is called when the run is aborted. */
  work: Pick<EffectRun<unknown, unknown>, "cancel"> | undefined;
  readonly #enqueue: (batch: Batch<State, Input, Effect>) => void;
  #abortReason: DOMException | undefined;
  #controller: AbortController | undefined;

  constructor(key: string, effect: Effect, enqueue: (batch: Batch<State, Input, Effect>) => void) {
    this.key = key;
    this.effect = effect;
    this.#enqueue = enqueue;
  }

  post(
    inputs: readonly DispatchedInput<State, Input>[],
    settled?: (result: BatchResult<State>) => void,
  ): void {
    this.#enqueue({ inputs, run: this, settled, result: undefined });
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Whether an error is the reaction to the abort of this run, which is not a failure. */
  isAbortError(error: unknown): boolean {
    if (this.#abortReason === undefined) return false;
    return error === this.#abortReason || (error instanceof Error && error.name === "AbortError");
  }

  /** Aborts the signal. Throws what `cancel` throws. */
  abort(reason: DOMException): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    this.work?.cancel?.(reason);
  }
}

/** A group of batches and the intents of the effects that it makes wanted, transitioned and not committed yet. */
export interface Draft<State, Input, Effect> {
  readonly batches: readonly Batch<State, Input, Effect>[];
  /** The inputs and the intents that changed the state, in order. */
  readonly steps: Entry<State, Input>[];
  /** What became of each batch, in order. */
  readonly outcomes: Outcome<State, Input>[];
  /** The state after the last input, and after the last intent. */
  after: State;
  /** Undefined where none is made before the commit: the definition has no intents, or no effect may start. */
  plan: Plan<State, Input, Effect> | undefined;
}

/** A step of a draft. The last one is replaced when intents become part of it. */
export type Entry<State, Input> = {
  -readonly [Field in keyof Step<State, Input>]: Step<State, Input>[Field];
};

/** One entry for each input of a batch, in order, which is a step if its states differ; or why the batch has none. */
export type Outcome<State, Input> = readonly Entry<State, Input>[] | "dropped" | { readonly error: unknown };

/** Whether an input changed the state. */
export const isStep = <State, Input>({ before, after }: Step<State, Input>): boolean => before !== after;

/**
 * Transitions a group. A batch that throws results only in its error. Ensures I3 within a group: a batch of a run is dropped
 * if the run is retired, or if the state at the turn of the batch does not want its key.
 */
export function transitionGroup<State, Input, Effect>(
  batches: readonly Batch<State, Input, Effect>[],
  state: State,
  transition: MoorexDefinition<State, Input, Effect>["transition"],
  isWanted: (run: Run<State, Input, Effect>, state: State) => boolean,
): Draft<State, Input, Effect> {
  const draft: Draft<State, Input, Effect> = {
    batches,
    steps: [],
    outcomes: [],
    after: state,
    plan: undefined,
  };
  for (const { run, inputs } of batches) {
    // The committed state wants the key of each run that is not retired.
    if (
      run !== undefined &&
      (run.phase === "retired" || (draft.after !== state && !isWanted(run, draft.after)))
    ) {
      draft.outcomes.push("dropped");
      continue;
    }
    try {
      const entries = transitionInputs(inputs, draft.after, transition);
      for (const entry of entries) if (isStep(entry)) draft.steps.push(entry);
      draft.outcomes.push(entries);
      const last = entries.at(-1);
      if (last !== undefined) draft.after = last.after;
    } catch (error) {
      draft.outcomes.push({ error });
    }
  }
  return draft;
}

function transitionInputs<State, Input>(
  inputs: readonly DispatchedInput<State, Input>[],
  state: State,
  transition: (input: Input) => (state: State) => State,
): readonly Entry<State, Input>[] {
  const entries: Entry<State, Input>[] = [];
  let before = state;
  for (const dispatched of inputs) {
    const input = isLate(dispatched) ? dispatched(before) : dispatched;
    if (input === undefined) continue;
    const after = transition(input)(before);
    entries.push({ input, before, after });
    before = after;
  }
  return entries;
}

const isLate = <State, Input>(input: DispatchedInput<State, Input>): input is LateInput<State, Input> =>
  typeof input === "function";

/** What is to run after a commit, with the intents of what it makes newly wanted. */
export interface Plan<State, Input, Effect> {
  /** The intents that are inputs of their own, in order, with the keys of their effects; those whose states differ are steps. */
  readonly entries: (Step<State, Input> & { readonly key: string })[];
  /** The keys whose intents are part of the last input of the group. */
  begun: readonly string[];
  /** The effects that are not run because their intents did not apply (`failure` is undefined) or threw. */
  readonly refused: {
    readonly key: string;
    readonly effect: Effect;
    readonly failure?: { error: unknown };
  }[];
  /** The keys that may not start now; undefined if there are none. */
  held: Set<string> | undefined;
  /** The state after the last intent. */
  after: State;
  /** The effects that this state wants; undefined if `effectsAt` threw. */
  wanted: Readonly<Record<string, Effect>> | undefined;
}

export interface PlanRules<State, Input, Effect> {
  readonly definition: Pick<MoorexDefinition<State, Input, Effect>, "intentOf" | "transition">;
  readonly wantedAt: (state: State) => Readonly<Record<string, Effect>> | undefined;
  /** Whether the effect of a key is running or has finished, so that it does not start now. */
  readonly isStarted: (key: string) => boolean;
  readonly mayStart: (effect: Effect, key: string, state: State) => boolean;
  /** Undefined if the intents must be inputs of their own. */
  readonly withIntents: (
    step: Step<State, Input>,
    intents: readonly Input[],
  ) => ContinuedStep<State, Input> | undefined;
}

/**
 * Plans what starts at a state: transitions its intents, and those of the effects that they make wanted, until nothing new is wanted.
 * `cause` is the last step before, of which the intents become a part if they can.
 */
export function planAt<State, Input, Effect>(
  state: State,
  rules: PlanRules<State, Input, Effect>,
  cause: Entry<State, Input> | undefined,
): Plan<State, Input, Effect> {
  const { definition, wantedAt, isStarted, mayStart, withIntents } = rules;
  const plan: Plan<State, Input, Effect> = {
    entries: [],
    begun: [],
    refused: [],
    held: undefined,
    after: state,
    wanted: undefined,
  };
  let part = cause;
  /** The effects of earlier rounds, which have been tried. */
  let tried: Readonly<Record<string, Effect>>[] | undefined;
  for (;;) {
    const from = plan.after;
    const wanted = (plan.wanted = wantedAt(from));
    if (wanted === undefined) return plan;
    const refused = plan.refused.length;
    const intents: Intent<Input, Effect>[] = [];
    for (const key of Object.keys(wanted)) {
      const effect = wanted[key];
      if (
        effect === undefined ||
        isStarted(key) ||
        tried?.some((round) => Object.hasOwn(round, key)) === true
      )
        continue;
      if (!mayStart(effect, key, plan.after)) {
        (plan.held ??= new Set()).add(key);
        continue;
      }
      const intent = intentOf(plan, definition, { key, effect });
      if (intent === undefined) continue;
      if (part === undefined) addEntry(plan, definition, intent);
      else intents.push(intent);
    }
    if (part !== undefined && intents.length > 0) {
      const joined = addToCause(plan, withIntents, part, intents);
      if (joined?.wantsSame === true) return plan;
      if (joined === undefined) {
        // The round is made again: each intent is computed for the state after the one before it.
        part = undefined;
        plan.refused.length = refused;
        continue;
      }
    }
    if (plan.after === from) return plan;
    (tried ??= []).push(wanted);
  }
}

interface Intent<Input, Effect> {
  readonly key: string;
  readonly effect: Effect;
  readonly input: Input;
}

/** The intent of an effect at the state of a plan; undefined for an effect without one, and if it throws, which refuses the effect. */
function intentOf<State, Input, Effect>(
  { after, refused }: Plan<State, Input, Effect>,
  definition: PlanRules<State, Input, Effect>["definition"],
  { key, effect }: { readonly key: string; readonly effect: Effect },
): Intent<Input, Effect> | undefined {
  try {
    const input = definition.intentOf?.(effect, key, after);
    return input === undefined ? undefined : { key, effect, input };
  } catch (error) {
    refused.push({ key, effect, failure: { error } });
    return undefined;
  }
}

/** Makes intents a part of the step that caused them. Returns undefined if they must be inputs of their own. */
function addToCause<State, Input, Effect>(
  plan: Plan<State, Input, Effect>,
  withIntents: PlanRules<State, Input, Effect>["withIntents"],
  cause: Entry<State, Input>,
  intents: readonly Intent<Input, Effect>[],
): ContinuedStep<State, Input> | undefined {
  const inputs = intents.map(({ input }) => input);
  const continued = withIntents({ ...cause }, inputs);
  if (continued === undefined) return undefined;
  const { input, after, refused } = continued;
  Object.assign(cause, { input, after });
  plan.after = after;
  for (const { key, effect, input: intent } of intents)
    if (refused?.includes(intent) === true) plan.refused.push({ key, effect });
  plan.begun = [...plan.begun, ...intents.map(({ key }) => key)];
  return continued;
}

function addEntry<State, Input, Effect>(
  plan: Plan<State, Input, Effect>,
  definition: PlanRules<State, Input, Effect>["definition"],
  { key, effect, input }: Intent<Input, Effect>,
): void {
  try {
    const before = plan.after;
    const after = definition.transition(input)(before);
    plan.entries.push({ input, before, after, key });
    if (after === before) plan.refused.push({ key, effect });
    plan.after = after;
  } catch (error) {
    plan.refused.push({ key, effect, failure: { error } });
  }
}
