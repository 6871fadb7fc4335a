import type { Batch } from "./batch.ts";
import type { Step, Transitioned } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** The transition of a group of batches that is not committed yet. */
export interface GroupTransition<State, Input, Effect, Detail> {
  readonly steps: readonly Step<State, Input, Detail>[];
  readonly outcomes: readonly BatchOutcome<State, Input, Effect, Detail>[];
}

export type BatchOutcome<State, Input, Effect, Detail> =
  | {
      readonly type: "transitioned";
      readonly batch: Batch<State, Input, Effect>;
      /** One entry for each input, in order; its `step` is undefined if nothing changed. Empty for a dropped batch. */
      readonly inputs: readonly AppliedInput<State, Input, Detail>[];
      /** Whether the run that dispatched the batch is still wanted directly after it; false if that is not known. */
      readonly isRunWanted: boolean;
    }
  | { readonly type: "failed"; readonly batch: Batch<State, Input, Effect>; readonly error: unknown };

interface AppliedInput<State, Input, Detail> {
  readonly input: Input;
  readonly step: Step<State, Input, Detail> | undefined;
}

/** Whether a batch of one input changed something. */
export const isApplied = <State, Input, Effect, Detail>(
  outcome: BatchOutcome<State, Input, Effect, Detail> | undefined,
): boolean => outcome?.type === "transitioned" && outcome.inputs.some(({ step }) => step !== undefined);

export type Transition<State, Input, Detail> = (input: Input, state: State) => Transitioned<State, Detail>;

/** Transitions a group. A batch that throws results only in its error; a batch of a lost run is dropped. */
export function transitionGroup<State, Input, Effect, Detail>(
  group: readonly Batch<State, Input, Effect>[],
  state: State,
  transition: Transition<State, Input, Detail>,
  wantedAt: (state: State) => Readonly<Record<string, Effect>> | undefined,
): GroupTransition<State, Input, Effect, Detail> {
  const steps: Step<State, Input, Detail>[] = [];
  const outcomes: BatchOutcome<State, Input, Effect, Detail>[] = [];
  const lost = new Set<Run<Effect>>();
  /** Only a run can be wanted or lost, and only where another batch of the group may decide that. */
  const hasRivals = group.length > 1 && group.some(({ run }) => run !== undefined);
  for (const batch of group) {
    if (batch.run !== undefined && (batch.run.phase === "over" || lost.has(batch.run))) {
      outcomes.push({ type: "transitioned", batch, inputs: [], isRunWanted: false });
      continue;
    }
    const before = steps.length;
    const result = transitionBatch(batch, steps.at(-1)?.after ?? state, transition);
    if ("error" in result) {
      outcomes.push({ type: "failed", batch, error: result.error });
      continue;
    }
    for (const { step } of result.inputs) if (step !== undefined) steps.push(step);
    const newest = hasRivals && steps.length > before ? steps.at(-1) : undefined;
    const wanted = newest && wantedAt(newest.after);
    const isRunWanted =
      wanted !== undefined && batch.run !== undefined && Object.hasOwn(wanted, batch.run.key);
    outcomes.push({ type: "transitioned", batch, inputs: result.inputs, isRunWanted });
    if (wanted !== undefined) addLost(lost, group, wanted);
  }
  return { steps, outcomes };
}

function transitionBatch<State, Input, Effect, Detail>(
  batch: Batch<State, Input, Effect>,
  state: State,
  transition: Transition<State, Input, Detail>,
): { readonly inputs: readonly AppliedInput<State, Input, Detail>[] } | { readonly error: unknown } {
  let before = state;
  try {
    const inputs = batch.inputs.map((input) => {
      const { state: after, detail } = transition(input, before);
      const step = after === before ? undefined : { input, before, after, detail };
      before = after;
      return { input, step };
    });
    return { inputs };
  } catch (error) {
    return { error };
  }
}

/** Ensures I3 within a group: the inputs of a run that an earlier batch retired are dropped, even if its key returns. */
function addLost<State, Input, Effect>(
  lost: Set<Run<Effect>>,
  group: readonly Batch<State, Input, Effect>[],
  wanted: Readonly<Record<string, Effect>>,
): void {
  for (const { run } of group) if (run !== undefined && !Object.hasOwn(wanted, run.key)) lost.add(run);
}
