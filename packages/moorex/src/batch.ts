import type { DispatchResult, MoorexDefinition, Step } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** A batch that waits for its turn, and its result. */
export interface Batch<State, Input, Effect> {
  readonly inputs: readonly Input[];
  /** The run that dispatched it; none for the outside world. */
  readonly run: Run<Effect> | undefined;
  result: Promise<DispatchResult<State>> | undefined;
  settle: ((result: Promise<DispatchResult<State>>) => void) | undefined;
}

/** A group of offers, transitioned but not yet committed. */
export interface GroupTransition<State, Input, Effect> {
  readonly steps: readonly Step<State, Input>[];
  readonly outcomes: readonly BatchOutcome<State, Input, Effect>[];
}

export interface BatchOutcome<State, Input, Effect> {
  readonly batch: Batch<State, Input, Effect>;
  /** One for each input, in order; without a step where nothing changed; none at all for an offer that was dropped. */
  readonly inputs: readonly { readonly input: Input; readonly step: Step<State, Input> | undefined }[];
  /** Of an offer in a group: whether the run that made it is still wanted right after it. */
  readonly goesOn?: boolean;
  readonly error?: unknown;
}

export const newBatch = <State, Input, Effect>(
  inputs: readonly Input[],
  run?: Run<Effect>,
): Batch<State, Input, Effect> => ({ inputs, run, result: undefined, settle: undefined });

export const settleBatch = <State, Input, Effect>(
  batch: Batch<State, Input, Effect>,
  result: Promise<DispatchResult<State>>,
): void => {
  if (batch.result !== undefined) return;
  batch.result = result;
  batch.settle?.(result);
};

/** A rejection that the caller does not have to catch: it is reported as a notice as well. */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Transitions a group. An offer that throws leaves no trace in the draft but its error; one of a lost run is dropped. */
export function transitionGroup<State, Input, Effect>(
  group: readonly Batch<State, Input, Effect>[],
  state: State,
  transition: MoorexDefinition<State, Input, Effect>["transition"],
  wantedAt: (state: State) => Readonly<Record<string, Effect>> | undefined,
): GroupTransition<State, Input, Effect> {
  const steps: Step<State, Input>[] = [];
  const outcomes: BatchOutcome<State, Input, Effect>[] = [];
  const lost = new Set<Run<Effect>>();
  let at = state;
  for (const batch of group) {
    if (batch.run !== undefined && (!batch.run.live || lost.has(batch.run))) {
      outcomes.push({ batch, inputs: [] });
      continue;
    }
    const outcome = outcomeOf(batch, at, transition);
    const before = steps.length;
    for (const { step } of outcome.inputs) if (step !== undefined) steps.push(step);
    at = steps.at(-1)?.after ?? at;
    const wanted = group.length > 1 && steps.length > before ? wantedAt(at) : undefined;
    if (wanted === undefined) {
      outcomes.push(outcome);
      continue;
    }
    outcomes.push({ ...outcome, goesOn: batch.run !== undefined && Object.hasOwn(wanted, batch.run.key) });
    addLost(lost, group, wanted);
  }
  return { steps, outcomes };
}

function outcomeOf<State, Input, Effect>(
  batch: Batch<State, Input, Effect>,
  state: State,
  transition: (input: Input) => (state: State) => State,
): BatchOutcome<State, Input, Effect> {
  let before = state;
  try {
    const inputs = batch.inputs.map((input) => {
      const after = transition(input)(before);
      const step = after === before ? undefined : { input, before, after };
      before = after;
      return { input, step };
    });
    return { batch, inputs };
  } catch (error) {
    return { batch, inputs: [], error };
  }
}

/** I3 within a group: a run whose key an earlier offer retired must not be heard, even if the key comes back. */
function addLost<State, Input, Effect>(
  lost: Set<Run<Effect>>,
  group: readonly Batch<State, Input, Effect>[],
  wanted: Readonly<Record<string, Effect>>,
): void {
  for (const { run } of group) if (run !== undefined && !Object.hasOwn(wanted, run.key)) lost.add(run);
}
