import { rejected, settleBatch } from "./batch.ts";
import type { BaseDefinition, ErrorSource } from "./definition.ts";
import type { EffectRuns } from "./effect-runs.ts";
import type { BatchOutcome, GroupTransition } from "./group.ts";
import type { Notifier } from "./notifier.ts";

/** The current state, which all subscribers see, and its running effects. */
export class CommittedState<State, Input, Effect, Detail, Position> {
  readonly #definition: Pick<BaseDefinition<State, Input, Effect, Detail, Position>, "effectsAt">;
  readonly #runs: EffectRuns<State, Input, Effect>;
  readonly #notices: Notifier<State, Input, Effect, Detail, Position>;
  #state: State;
  /** Whether the state has changed since the effects were last reconciled. */
  #hasChanged = true;

  constructor(
    definition: Pick<BaseDefinition<State, Input, Effect, Detail, Position>, "effectsAt" | "initial">,
    runs: EffectRuns<State, Input, Effect>,
    notices: Notifier<State, Input, Effect, Detail, Position>,
  ) {
    this.#definition = definition;
    this.#runs = runs;
    this.#notices = notices;
    this.#state = definition.initial();
  }

  get state(): State {
    return this.#state;
  }

  /** Publishes the steps of a committed group one by one, and settles its batches. */
  publish(
    { outcomes }: GroupTransition<State, Input, Effect, Detail>,
    positions: readonly (Position | undefined)[],
    source: Extract<ErrorSource, "transition" | "foreign"> = "transition",
  ): void {
    let published = 0;
    for (const outcome of outcomes) {
      if (outcome.type === "failed") {
        settleBatch(outcome.batch, rejected(outcome.error));
        this.#notices.error(source, outcome.error, outcome.batch.run?.key);
      } else published += this.#publishBatch(outcome, positions, published);
    }
  }

  /** Publishes the steps of one batch, and returns their number. `from` is the index of the first step's position. */
  #publishBatch(
    {
      batch,
      inputs,
      isRunWanted,
    }: Extract<BatchOutcome<State, Input, Effect, Detail>, { type: "transitioned" }>,
    positions: readonly (Position | undefined)[],
    from: number,
  ): number {
    let applied = 0;
    for (const { input, step } of inputs) {
      if (step === undefined) {
        if (!this.#notices.hasListeners) continue;
        this.#notices.emit({ type: "input-received", input });
        this.#notices.emit({ type: "input-ignored", input, state: this.#state });
        continue;
      }
      this.#state = step.after;
      this.#hasChanged = true;
      const position = positions[from + applied];
      applied += 1;
      if (!this.#notices.hasListeners) continue;
      const { before, after: state, detail } = step;
      this.#notices.emit({ type: "input-received", input });
      this.#notices.emit({ type: "state-updated", input, before, state, detail, position });
    }
    if (applied > 0 && batch.run?.phase === "running" && !isRunWanted) batch.run.phase = "answered";
    settleBatch(batch, Promise.resolve({ applied, state: this.#state }));
    return applied;
  }

  /** Ends and starts effects so that the state's wanted effects run. Does nothing if the state has not changed. */
  reconcile(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const wanted = this.wantedAt(this.#state);
    if (wanted === undefined) return;
    this.#runs.retire(wanted);
    this.#runs.start(wanted, this.#state);
  }

  /** Ends the effects that the state no longer wants, without starting new ones. */
  retire(): void {
    const wanted = this.wantedAt(this.#state);
    if (wanted !== undefined) this.#runs.retire(wanted);
  }

  /** The effects of a state by key; undefined if `effectsAt` throws, which is reported. */
  wantedAt(state: State): Readonly<Record<string, Effect>> | undefined {
    try {
      const wanted = this.#definition.effectsAt(state);
      if (typeof wanted === "object" && wanted !== null) return wanted;
      throw new TypeError(`effectsAt must return an object of effects by key, got ${String(wanted)}.`);
    } catch (error) {
      this.#notices.error("effectsAt", error);
      return undefined;
    }
  }
}
