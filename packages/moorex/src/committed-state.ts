import type { Batch } from "./batch.ts";
import type { BaseDefinition, ErrorSource, Step } from "./definition.ts";
import type { EffectRuns, Run } from "./effect-runs.ts";
import { isStep, type BatchOutcome } from "./group.ts";
import type { Draft } from "./draft.ts";
import type { Notifier } from "./notifier.ts";

type StateDefinition<State, Input, Effect, Detail, Position> = Pick<
  BaseDefinition<State, Input, Effect, Detail, Position>,
  "effectsAt" | "initial" | "isWanted"
>;

/** The current state, which all subscribers see, and its running effects. */
export class CommittedState<State, Input, Effect, Detail, Position> {
  readonly #definition: StateDefinition<State, Input, Effect, Detail, Position>;
  readonly #runs: EffectRuns<State, Input, Effect>;
  readonly #notices: Notifier<State, Input, Effect, Detail, Position>;
  #state: State;
  /** Whether the state has changed since the effects were last reconciled. */
  #hasChanged = true;

  constructor(
    definition: StateDefinition<State, Input, Effect, Detail, Position>,
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

  /** Whether the effects are to be reconciled: the state has changed since, or a batch without inputs asks for it. Initially true. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Reconciles the effects the next time also if the state has not changed. */
  touch(): void {
    this.#hasChanged = true;
  }

  /** The key of an effect that the state wants and that has not begun; undefined if there is none. */
  get unstartedKey(): string | undefined {
    return Object.keys(this.wantedAt(this.#state) ?? {}).find((key) => !this.#runs.isStarted(key));
  }

  /** Publishes the steps of a committed draft one by one, and settles its batches. `positions` are those of the steps. */
  publish(
    { outcomes, intents, after }: Draft<State, Input, Effect, Detail>,
    positions: readonly (Position | undefined)[],
    source: Extract<ErrorSource, "transition" | "foreign"> = "transition",
  ): void {
    const position = positions.values();
    for (const outcome of outcomes) {
      if (outcome.type === "failed") {
        outcome.batch.settle({ error: outcome.error });
        this.#notices.error(source, outcome.error, outcome.batch.run?.key);
      } else if (outcome.type === "dropped") this.drop(outcome.batch, outcome.run);
      else this.#publishBatch(outcome, position, after);
    }
    for (const entry of intents?.entries ?? []) this.#publishEntry(entry, position);
  }

  #publishBatch(
    { batch, entries }: Extract<BatchOutcome<State, Input, Effect, Detail>, { type: "transitioned" }>,
    positions: Iterator<Position | undefined>,
    after: State,
  ): void {
    let applied = 0;
    for (const entry of entries) {
      this.#publishEntry(entry, positions);
      if (isStep(entry)) applied += 1;
    }
    const { run } = batch;
    if (applied > 0 && run?.phase === "running")
      // Reconciling finds out whether the last state of the draft wants the run.
      run.isAnswered = this.#state === after || !this.isWanted(run.key, this.#state);
    batch.settle({ applied, state: this.#state });
  }

  /** Settles a batch of a run that is over, without applying it, and reports its inputs. */
  drop(batch: Batch<State, Input, Effect>, { key }: Run<State, Input, Effect>): void {
    for (const input of batch.inputs) this.#notices.emit({ type: "input-dropped", key, input });
    batch.settle({ applied: 0, state: this.#state });
  }

  #publishEntry(entry: Step<State, Input, Detail>, positions: Iterator<Position | undefined>): void {
    const { input, before, after: state, detail } = entry;
    const isIgnored = !isStep(entry);
    const position = isIgnored ? undefined : positions.next().value;
    if (!isIgnored) {
      this.#state = state;
      this.#hasChanged = true;
    }
    if (!this.#notices.hasListeners) return;
    this.#notices.emit({ type: "input-received", input });
    this.#notices.emit(
      isIgnored
        ? { type: "input-ignored", input, state: this.#state }
        : { type: "state-updated", input, before, state, detail, position },
    );
  }

  /**
   * Ends and starts effects so that the state's wanted effects run. Does nothing if the state has not changed. `intents` are
   * those of the draft that was published last.
   */
  reconcile(intents: Draft<State, Input, Effect, Detail>["intents"]): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const wanted = intents === undefined ? this.wantedAt(this.#state) : intents.wanted;
    if (wanted === undefined) return;
    this.#runs.retire(wanted);
    if (intents !== undefined) this.#runs.refuse(intents.refused, wanted);
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

  /** Whether a state wants the effect of a run. If that is not known because the function throws, it counts as wanted. */
  isWanted(key: string, state: State): boolean {
    if (this.#definition.isWanted === undefined) {
      const wanted = this.wantedAt(state);
      return wanted === undefined || Object.hasOwn(wanted, key);
    }
    try {
      return this.#definition.isWanted(key, state);
    } catch (error) {
      this.#notices.error("effectsAt", error, key);
      return true;
    }
  }
}
