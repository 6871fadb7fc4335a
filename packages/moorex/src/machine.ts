/**
 * The runner: applies inputs, commits and publishes them, and keeps the running effects equal to those that the state
 * wants. Its invariants:
 *
 * - I1 Between groups of inputs the running keys are the wanted keys without the finished ones, from creation on. An effect
 *   that has an intent starts only after a commit of this intent. The intents of the effects that a group makes wanted are
 *   transitioned after its inputs, and those of the effects that they make wanted, until nothing new is wanted; one commit
 *   stores the inputs and the intents. A batch without inputs reconciles again, for an `effectsAt` that depends on more than the state. An effect whose intent does not apply is not run: its key counts as finished.
 * - I2 A finished key does not start again until the effects have been reconciled with a state that did not want it.
 * - I3 A late action of an old run of a key affects neither the state nor a newer run. Its signal is aborted, unless its own
 *   batch retired it. A batch of a run is dropped if, at its dispatch, `start` had ended or the key was retired; and if, at its
 *   turn, the key has been retired since or the state does not want it. Else it counts, however long it waits and whether or
 *   not `start` has ended since. A notice reports each input that is dropped. A run whose key is unwanted only between two
 *   inputs of one group continues.
 * - I4 Inputs are applied one at a time, in order; a dispatch is one atomic batch; a dispatch from a subscriber or an
 *   effect is queued; the stack does not grow. All batches that wait form one group: with one commit, one reconciliation.
 *   A late-bound input is evaluated at its turn, for the state before it. Without an asynchronous commit everything is
 *   published before `dispatch` returns; a dispatch of an effect while others run waits for `defer`.
 * - I5 Transitions are speculative until committed: `commit` receives only inputs that changed the state, subscribers see
 *   only committed states, one by one, each with its detail and its position; effects are reconciled after the last one.
 *   `{ before }` is applied and published first, then the group is transitioned again, with its late-bound inputs and its
 *   intents. During a commit, later inputs are queued and committed together. If a commit fails, dispatches from outside
 *   reject, the inputs of effects are committed again before later inputs, and no effect starts.
 * - I6 An exception of the transition, effectsAt, isWanted, intentOf, runEffect, a run or a listener affects nothing else: the
 *   state does not change, a notice reports the error, also after the end of the run, and the machine continues. `onNotice`
 *   receives every notice from creation on.
 */
import { Batch, dispatchOf } from "./batch.ts";
import { BatchQueue } from "./batch-queue.ts";
import type { BaseDefinition, CommitResult, CommittedInput, Moorex } from "./definition.ts";
import { checkedResult, isPromise } from "./commit-result.ts";
import { CommittedState } from "./committed-state.ts";
import { Drafts, type Draft } from "./draft.ts";
import { EffectRuns } from "./effect-runs.ts";
import { isApplied, type Transition } from "./group.ts";
import { Notifier } from "./notifier.ts";

/** The current activity of a machine. Inputs that arrive while it is not idle wait in the queue. */
type Activity = "idle" | "transitioning" | "committing" | "publishing";

/** Processes inputs: transition, commit, publish, reconcile. */
export class Machine<State, Input, Effect, Detail, Position> {
  readonly #definition: BaseDefinition<State, Input, Effect, Detail, Position>;
  readonly #notices: Notifier<State, Input, Effect, Detail, Position>;
  readonly #queue: BatchQueue<State, Input, Effect> = new BatchQueue();
  readonly #runs: EffectRuns<State, Input, Effect>;
  readonly #committed: CommittedState<State, Input, Effect, Detail, Position>;
  readonly #drafts: Drafts<State, Input, Effect, Detail, Position>;
  /** Initially "publishing", as if the initial state were being published. */
  #activity: Activity = "publishing";
  #isStopped = false;
  /** Whether `defer` has been asked to process the queue. */
  #isDeferred = false;
  #onSettled: (() => void)[] = [];

  constructor(
    definition: BaseDefinition<State, Input, Effect, Detail, Position>,
    transition: Transition<State, Input, Detail>,
  ) {
    this.#definition = definition;
    this.#notices = new Notifier(definition.onNotice);
    this.#runs = new EffectRuns({
      runEffect: (effect, state, key) => definition.runEffect(effect, state, key),
      isBackground: (effect, state) => definition.isBackground?.(effect, state) ?? false,
      enqueue: this.#enqueue,
      emit: (notice) => this.#notices.emit(notice),
      failed: (error, key) => this.#notices.error("effect", error, key),
      onEnd: () => this.#wakeIfSettled(),
    });
    this.#committed = new CommittedState(definition, this.#runs, this.#notices);
    this.#drafts = new Drafts(definition, transition, this.#committed, this.#runs);
  }

  /** Starts the effects of the initial state, and returns the public methods of the machine. */
  start(): Moorex<State, Input, Effect, Detail, Position> {
    this.#proceedAfter(this.#process([]));
    return {
      dispatch: dispatchOf(this.#enqueue),
      current: () => this.#committed.state,
      subscribe: (listener) => this.#notices.subscribe(listener),
      settled: () =>
        this.#isSettled
          ? Promise.resolve()
          : new Promise((resolve) => {
              this.#onSettled.push(resolve);
            }),
      stop: () => this.#stop(),
    };
  }

  readonly #enqueue = (batch: Batch<State, Input, Effect>): void => {
    if (this.#activity === "transitioning")
      throw new Error("A transition must not dispatch. Return the next state instead.");
    const { run } = batch;
    if (run === undefined ? this.#isStopped : run.phase !== "running") return this.#drop(batch);
    this.#queue.add(batch);
    if (run === undefined || this.#runs.foreground < 2) this.#drain();
    else this.#deferDrain();
  };

  /** Processes the queue later, together with what other effects dispatch until then. */
  #deferDrain(): void {
    if (this.#activity !== "idle" || this.#isDeferred) return;
    this.#isDeferred = true;
    const process = (): void => {
      this.#isDeferred = false;
      this.#drain();
    };
    if (this.#definition.defer === undefined) void Promise.resolve().then(process);
    else this.#definition.defer(process);
  }

  #stop(): void {
    this.#isStopped = true;
    this.#runs.stop();
    for (const batch of this.#queue.takeDeferred()) this.#drop(batch);
    this.#wakeIfSettled();
  }

  get #isSettled(): boolean {
    return this.#activity === "idle" && this.#runs.isSettled && this.#queue.isSettled;
  }

  #wakeIfSettled(): void {
    if (this.#onSettled.length === 0 || !this.#isSettled) return;
    for (const wake of this.#onSettled.splice(0)) wake();
  }

  #drain(): void {
    if (this.#activity !== "idle") return;
    while (!this.#queue.isEmpty) {
      const later = this.#process(this.#queue.take());
      if (later !== undefined) return this.#proceedAfter(later);
    }
    this.#activity = "idle";
    this.#wakeIfSettled();
  }

  /** Continues with the queue when a group has been processed. */
  #proceedAfter(later: Promise<void> | undefined): void {
    const proceed = (): void => {
      this.#activity = "idle";
      this.#drain();
    };
    if (later === undefined) return proceed();
    later.then(proceed, (error: unknown) => {
      this.#notices.error("commit", error);
      proceed();
    });
  }

  /** Commits a group, and again after each conflict with other inputs. A promise only if `commit` returned one. */
  #process(group: readonly Batch<State, Input, Effect>[]): Promise<void> | undefined {
    if (group.some(({ inputs }) => inputs.length === 0)) this.#committed.touch();
    for (;;) {
      this.#activity = "transitioning";
      const draft = this.#isStopped ? this.#drafts.withoutIntents(group) : this.#drafts.withIntents(group);
      this.#activity = "publishing";
      let result: CommitResult<Input, Position>;
      try {
        const answer = this.#commit(draft);
        if (isPromise(answer)) return this.#processLater(group, draft, answer);
        result = checkedResult(answer, draft.steps.length);
      } catch (error) {
        return this.#commitFailed(group, draft, error);
      }
      if (this.#finish(draft, result)) return undefined;
    }
  }

  async #processLater(
    group: readonly Batch<State, Input, Effect>[],
    draft: Draft<State, Input, Effect, Detail>,
    answer: Promise<CommitResult<Input, Position>>,
  ): Promise<void> {
    let result: CommitResult<Input, Position>;
    try {
      result = checkedResult(await answer, draft.steps.length);
    } catch (error) {
      return this.#commitFailed(group, draft, error);
    }
    if (!this.#finish(draft, result)) await this.#process(group);
  }

  #commit({ steps }: Draft<State, Input, Effect, Detail>) {
    if (steps.length === 0) return undefined;
    this.#activity = "committing";
    return this.#definition.commit?.(steps);
  }

  #commitFailed(
    group: readonly Batch<State, Input, Effect>[],
    { intents }: Draft<State, Input, Effect, Detail>,
    error: unknown,
  ): undefined {
    let key: string | undefined;
    for (const batch of group) {
      if (batch.isSettled) continue;
      if (batch.run === undefined) batch.settle({ error });
      else if (batch.run.phase === "retired") this.#committed.drop(batch, batch.run);
      else {
        this.#queue.defer(batch);
        key ??= batch.run.key;
      }
    }
    // The committed state may want effects that have not begun: their intents were not stored, or it was reached by foreign inputs.
    if (this.#committed.hasChanged && !this.#isStopped)
      key ??= intents?.firstKey ?? this.#committed.unstartedKey;
    this.#notices.error("commit", error, key);
    for (const batch of group) this.#report(batch);
  }

  /** Settles a batch of a run that is over, or one from outside after `stop`, and reports it. */
  #drop(batch: Batch<State, Input, Effect>): void {
    if (batch.run === undefined) {
      const error = new Error("This machine was stopped and accepts no more inputs. Create another one.");
      batch.settle({ error });
      this.#notices.error("dispatch", error);
    } else this.#committed.drop(batch, batch.run);
    this.#report(batch);
  }

  #report(batch: Batch<State, Input, Effect>): void {
    try {
      batch.report();
    } catch (error) {
      this.#notices.error("effect", error, batch.run?.key);
    }
  }

  /** Publishes a durable group. If other inputs were committed first, publishes those instead and returns false. */
  #finish(draft: Draft<State, Input, Effect, Detail>, result: CommitResult<Input, Position>): boolean {
    this.#activity = "publishing";
    if (result !== undefined && "before" in result && result.before.length > 0) {
      this.#applyForeign(result.before);
      return false;
    }
    this.#committed.publish(draft, result !== undefined && "positions" in result ? result.positions : []);
    if (!this.#isStopped) this.#committed.reconcile(draft.intents);
    for (const { batch } of draft.outcomes) this.#report(batch);
    return true;
  }

  /** Applies and publishes inputs that others committed first, and ends the runs that they retire. Starts no effects yet. */
  #applyForeign(committed: readonly CommittedInput<Input, Position>[]): void {
    this.#activity = "transitioning";
    const draft = this.#drafts.withoutIntents(committed.map(({ input }) => new Batch([input])));
    this.#activity = "publishing";
    const positions = committed.flatMap(({ position }, index) =>
      isApplied(draft.outcomes[index]) ? [position] : [],
    );
    this.#committed.publish(draft, positions, "foreign");
    this.#committed.retire();
  }
}
