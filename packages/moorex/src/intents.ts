import type { BaseDefinition, Step } from "./definition.ts";
import type { Transition } from "./group.ts";

/** The intents of the effects that a draft makes newly wanted, transitioned after its inputs. */
export interface Intents<State, Input, Effect, Detail> {
  /** One entry for each intent, in order; it is a step if its states differ. */
  readonly entries: readonly Step<State, Input, Detail>[];
  /** The key of the first intent that applied; undefined if none did. */
  readonly firstKey: string | undefined;
  /** The effects that are not run because their intents did not apply or threw. */
  readonly refused: readonly RefusedEffect<Effect>[];
  /** The state after the last intent. */
  readonly after: State;
  /** The effects that this state wants; undefined if `effectsAt` threw. */
  readonly wanted: Readonly<Record<string, Effect>> | undefined;
}

/** An effect that is not run. `failure` is undefined if its intent did not apply. */
export interface RefusedEffect<Effect> {
  readonly key: string;
  readonly effect: Effect;
  readonly failure: { readonly error: unknown } | undefined;
}

export interface IntentRules<State, Input, Effect, Detail> {
  readonly intentOf: NonNullable<BaseDefinition<State, Input, Effect, Detail, unknown>["intentOf"]>;
  readonly transition: Transition<State, Input, Detail>;
  readonly wantedAt: (state: State) => Readonly<Record<string, Effect>> | undefined;
  /** Whether the effect of a key is running or has finished, so that it does not start now. */
  readonly isStarted: (key: string) => boolean;
}

/** Transitions the intents of a state, and those of the effects that they make wanted, until nothing new is wanted. */
export function transitionIntents<State, Input, Effect, Detail>(
  state: State,
  { intentOf, transition, wantedAt, isStarted }: IntentRules<State, Input, Effect, Detail>,
): Intents<State, Input, Effect, Detail> {
  const entries: Step<State, Input, Detail>[] = [];
  const refused: RefusedEffect<Effect>[] = [];
  /** The effects of earlier rounds, which have been tried. */
  let tried: Readonly<Record<string, Effect>>[] | undefined;
  let firstKey: string | undefined;
  let after = state;
  for (;;) {
    const from = after;
    const wanted = wantedAt(from);
    if (wanted === undefined) return { entries, firstKey, refused, after, wanted };
    for (const key of Object.keys(wanted)) {
      const effect = wanted[key];
      if (
        effect === undefined ||
        isStarted(key) ||
        tried?.some((earlier) => Object.hasOwn(earlier, key)) === true
      )
        continue;
      try {
        const input = intentOf(effect, key, after);
        if (input === undefined) continue;
        const { state: next, detail } = transition(input, after);
        entries.push({ input, before: after, after: next, detail });
        if (next === after) refused.push({ key, effect, failure: undefined });
        else firstKey ??= key;
        after = next;
      } catch (error) {
        refused.push({ key, effect, failure: { error } });
      }
    }
    if (after === from) return { entries, firstKey, refused, after, wanted };
    (tried ??= []).push(wanted);
  }
}
