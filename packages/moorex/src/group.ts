import type { Batch } from "./batch.ts";
import type { DispatchedInput, LateInput, Step, Transitioned } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** The transition of a group of batches that is not committed yet. */
export interface GroupTransition<State, Input, Effect, Detail> {
  /** The inputs that changed the state, in order. */
  readonly steps: Step<State, Input, Detail>[];
  readonly outcomes: readonly BatchOutcome<State, Input, Effect, Detail>[];
  /** The state after the last input. */
  readonly after: State;
  readonly intents: undefined;
}

export type BatchOutcome<State, Input, Effect, Detail> =
  | {
      readonly type: "transitioned";
      readonly batch: Batch<State, Input, Effect>;
      /** One entry for each input, in order; it is a step if its states differ. */
      readonly entries: readonly Step<State, Input, Detail>[];
    }
  | {
      readonly type: "dropped";
      readonly batch: Batch<State, Input, Effect>;
      readonly run: Run<State, Input, Effect>;
    }
  | { readonly type: "failed"; readonly batch: Batch<State, Input, Effect>; readonly error: unknown };

/** Whether an input changed the state. */
export const isStep = <State, Input, Detail>({ before, after }: Step<State, Input, Detail>): boolean =>
  before !== after;

/** Whether a batch of one input changed the state. */
export const isApplied = <State, Input, Effect, Detail>(
  outcome: BatchOutcome<State, Input, Effect, Detail> | undefined,
): boolean => outcome?.type === "transitioned" && outcome.entries.some(isStep);

export type Transition<State, Input, Detail> = (input: Input, state: State) => Transitioned<State, Detail>;

/**
 * Transitions a group. A batch that throws results only in its error. Ensures I3 within a group: a batch of a run is dropped
 * if the run is retired, or if the state at the turn of the batch does not want its key.
 */
export function transitionGroup<State, Input, Effect, Detail>(
  group: readonly Batch<State, Input, Effect>[],
  state: State,
  transition: Transition<State, Input, Detail>,
  isWanted: (key: string, state: State) => boolean,
): GroupTransition<State, Input, Effect, Detail> {
  const steps: Step<State, Input, Detail>[] = [];
  const outcomes: BatchOutcome<State, Input, Effect, Detail>[] = [];
  let after = state;
  for (const batch of group) {
    const { run } = batch;
    // The committed state wants the key of each run that is not retired.
    if (run !== undefined && (run.phase === "retired" || (after !== state && !isWanted(run.key, after)))) {
      outcomes.push({ type: "dropped", batch, run });
      continue;
    }
    const entries: Step<State, Input, Detail>[] = [];
    try {
      after = transitionInputs(batch.inputs, after, transition, entries);
    } catch (error) {
      outcomes.push({ type: "failed", batch, error });
      continue;
    }
    for (const entry of entries) if (isStep(entry)) steps.push(entry);
    outcomes.push({ type: "transitioned", batch, entries });
  }
  return { steps, outcomes, after, intents: undefined };
}

/** Adds an entry for each input, and returns the state after the last one. */
function transitionInputs<State, Input, Detail>(
  inputs: readonly DispatchedInput<State, Input>[],
  state: State,
  transition: Transition<State, Input, Detail>,
  entries: Step<State, Input, Detail>[],
): State {
  let before = state;
  for (const dispatched of inputs) {
    const input = isLate(dispatched) ? dispatched(before) : dispatched;
    if (input === undefined) continue;
    const { state: after, detail } = transition(input, before);
    entries.push({ input, before, after, detail });
    before = after;
  }
  return before;
}

const isLate = <State, Input>(input: DispatchedInput<State, Input>): input is LateInput<State, Input> =>
  typeof input === "function";
