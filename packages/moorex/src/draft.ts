import type { Batch } from "./batch.ts";
import type { CommittedState } from "./committed-state.ts";
import type { BaseDefinition } from "./definition.ts";
import type { EffectRuns } from "./effect-runs.ts";
import { isStep, transitionGroup, type GroupTransition, type Transition } from "./group.ts";
import { transitionIntents, type Intents } from "./intents.ts";

/** A group of batches with the intents of the effects that it makes wanted, transitioned and not committed yet. */
export interface Draft<State, Input, Effect, Detail> extends Omit<
  GroupTransition<State, Input, Effect, Detail>,
  "intents"
> {
  /** Undefined if there are none to compute: the definition has no intents, or no effect may start. */
  readonly intents: Intents<State, Input, Effect, Detail> | undefined;
}

/** Makes drafts from the committed state. */
export class Drafts<State, Input, Effect, Detail, Position> {
  readonly #definition: BaseDefinition<State, Input, Effect, Detail, Position>;
  readonly #transition: Transition<State, Input, Detail>;
  readonly #committed: CommittedState<State, Input, Effect, Detail, Position>;
  readonly #runs: EffectRuns<State, Input, Effect>;

  constructor(
    definition: BaseDefinition<State, Input, Effect, Detail, Position>,
    transition: Transition<State, Input, Detail>,
    committed: CommittedState<State, Input, Effect, Detail, Position>,
    runs: EffectRuns<State, Input, Effect>,
  ) {
    this.#definition = definition;
    this.#transition = transition;
    this.#committed = committed;
    this.#runs = runs;
  }

  /** A draft without intents. */
  withoutIntents(group: readonly Batch<State, Input, Effect>[]): Draft<State, Input, Effect, Detail> {
    const committed = this.#committed;
    return transitionGroup(group, committed.state, this.#transition, (key, state) =>
      committed.isWanted(key, state),
    );
  }

  /** A draft with the intents of the effects that start when it has been committed. */
  withIntents(group: readonly Batch<State, Input, Effect>[]): Draft<State, Input, Effect, Detail> {
    const draft = this.withoutIntents(group);
    const definition = this.#definition;
    if (definition.intentOf === undefined) return draft;
    if (draft.steps.length === 0 && !this.#committed.hasChanged) return draft;
    const intents = transitionIntents<State, Input, Effect, Detail>(draft.after, {
      intentOf: (effect, key, state) => definition.intentOf?.(effect, key, state),
      transition: this.#transition,
      wantedAt: (state) => this.#committed.wantedAt(state),
      isStarted: (key) => this.#runs.isStarted(key),
    });
    for (const entry of intents.entries) if (isStep(entry)) draft.steps.push(entry);
    return { ...draft, after: intents.after, intents };
  }
}
