import type { DispatchResult, MoorexDefinition, Step } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

/** A batch that waits for its turn, and what came of it. */
export interface Offer<State, Input, Effect> {
  readonly inputs: readonly Input[];
  /** The run that dispatched it; none for the outside world. */
  readonly run: Run<Effect> | undefined;
  result: Promise<DispatchResult<State>> | undefined;
  settle: ((result: Promise<DispatchResult<State>>) => void) | undefined;
}

/** A group of offers, transitioned but not yet committed. */
export interface Draft<State, Input, Effect> {
  readonly steps: readonly Step<State, Input>[];
  readonly outcomes: readonly OfferOutcome<State, Input, Effect>[];
}

export interface OfferOutcome<State, Input, Effect> {
  readonly offer: Offer<State, Input, Effect>;
  /** One for each input, in order; without a step where nothing changed; none at all for an offer that was dropped. */
  readonly inputs: readonly { readonly input: Input; readonly step: Step<State, Input> | undefined }[];
  /** Of an offer in a group: whether the run that made it is still wanted right after it. */
  readonly goesOn?: boolean;
  readonly error?: unknown;
}

export const newOffer = <State, Input, Effect>(
  inputs: readonly Input[],
  run?: Run<Effect>,
): Offer<State, Input, Effect> => ({ inputs, run, result: undefined, settle: undefined });

export const finishOffer = <State, Input, Effect>(
  offer: Offer<State, Input, Effect>,
  result: Promise<DispatchResult<State>>,
): void => {
  if (offer.result !== undefined) return;
  offer.result = result;
  offer.settle?.(result);
};

/** A rejection that the caller does not have to catch: it is reported as a notice as well. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Transitions a group. An offer that throws leaves no trace in the draft but its error; one of a lost run is dropped. */
export function draftOf<State, Input, Effect>(
  group: readonly Offer<State, Input, Effect>[],
  state: State,
  transition: MoorexDefinition<State, Input, Effect>["transition"],
  wantedAt: (state: State) => Readonly<Record<string, Effect>> | undefined,
): Draft<State, Input, Effect> {
  const steps: Step<State, Input>[] = [];
  const outcomes: OfferOutcome<State, Input, Effect>[] = [];
  const lost = new Set<Run<Effect>>();
  let at = state;
  for (const offer of group) {
    if (offer.run !== undefined && (!offer.run.live || lost.has(offer.run))) {
      outcomes.push({ offer, inputs: [] });
      continue;
    }
    const outcome = outcomeOf(offer, at, transition);
    const before = steps.length;
    for (const { step } of outcome.inputs) if (step !== undefined) steps.push(step);
    at = steps.at(-1)?.after ?? at;
    const wanted = group.length > 1 && steps.length > before ? wantedAt(at) : undefined;
    if (wanted === undefined) {
      outcomes.push(outcome);
      continue;
    }
    outcomes.push({ ...outcome, goesOn: offer.run !== undefined && Object.hasOwn(wanted, offer.run.key) });
    addLost(lost, group, wanted);
  }
  return { steps, outcomes };
}

function outcomeOf<State, Input, Effect>(
  offer: Offer<State, Input, Effect>,
  state: State,
  transition: (input: Input) => (state: State) => State,
): OfferOutcome<State, Input, Effect> {
  let before = state;
  try {
    const inputs = offer.inputs.map((input) => {
      const after = transition(input)(before);
      const step = after === before ? undefined : { input, before, after };
      before = after;
      return { input, step };
    });
    return { offer, inputs };
  } catch (error) {
    return { offer, inputs: [], error };
  }
}

/** I3 within a group: a run whose key an earlier offer retired must not be heard, even if the key comes back. */
function addLost<State, Input, Effect>(
  lost: Set<Run<Effect>>,
  group: readonly Offer<State, Input, Effect>[],
  wanted: Readonly<Record<string, Effect>>,
): void {
  for (const { run } of group) if (run !== undefined && !Object.hasOwn(wanted, run.key)) lost.add(run);
}
