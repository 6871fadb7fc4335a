/**
 * The runner: applies inputs, commits and publishes them, and keeps the running effects equal to those that the state
 * wants. Its invariants:
 *
 * - I1 Between inputs the running keys are the wanted keys without the finished ones, from creation on.
 * - I2 A finished key does not start again until a state has not wanted it.
 * - I3 A late action of an old run of a key affects neither the state nor a newer run. Its signal is aborted.
 * - I4 Inputs are applied one at a time, in order; a dispatch is one atomic batch; a dispatch from a subscriber or an
 *   effect is queued; the stack does not grow. Without an asynchronous commit everything is published before `dispatch`
 *   returns.
 * - I5 Transitions are speculative until committed: `commit` receives only inputs that changed the state, subscribers see
 *   only committed states, one by one, each with its detail and its position; effects are reconciled after the last one.
 *   `{ before }` is applied and published first, then the batch is transitioned again. During a commit, later inputs
 *   are queued and committed together. If a commit fails, dispatches from outside reject, the inputs of effects are
 *   committed again before later inputs, and no effect starts.
 * - I6 An exception of the transition, effectsAt, runEffect or a listener affects nothing else: the state does not change,
 *   a notice reports the error, and the machine continues. `onNotice` receives every notice from creation on.
 */
import { newBatch, rejected, resultOf, settleBatch, type Batch } from "./batch.ts";
import { BatchQueue } from "./batch-queue.ts";
import type { BaseDefinition, CommitResult, CommittedInput, Dispatch, Moorex } from "./definition.ts";
import { CommittedState } from "./committed-state.ts";
import { EffectRuns, type Run } from "./effect-runs.ts";
import { isApplied, transitionGroup, type GroupTransition, type Transition } from "./group.ts";
import { Notifier } from "./notifier.ts";

/** The current activity of a machine. Inputs that arrive while it is not idle wait in the queue. */
type Activity = "idle" | "transitioning" | "committing" | "publishing";

/** Processes inputs: transition, commit, publish, reconcile. */
export class Machine<State, Input, Effect, Detail, Position> {
  readonly #definition: BaseDefinition<State, Input, Effect, Detail, Position>;
  readonly #transition: Transition<State, Input, Detail>;
  readonly #notices: Notifier<State, Input, Effect, Detail, Position>;
  readonly #queue: BatchQueue<State, Input, Effect>;
  readonly #runs: EffectRuns<State, Input, Effect>;
  readonly #committed: CommittedState<State, Input, Effect, Detail, Position>;
  /** Initially "publishing", as if the initial state were being published. */
  #activity: Activity = "publishing";
  #isStopped = false;
  #onSettled: (() => void)[] = [];

  constructor(
    definition: BaseDefinition<State, Input, Effect, Detail, Position>,
    transition: Transition<State, Input, Detail>,
  ) {
    this.#definition = definition;
    this.#transition = transition;
    this.#notices = new Notifier(definition.onNotice);
    this.#queue = new BatchQueue(definition.commit !== undefined);
    this.#runs = new EffectRuns({
      runEffect: (effect, state, key) => definition.runEffect(effect, state, key),
      isBackground: (effect, state) => definition.isBackground?.(effect, state) ?? false,
      dispatchOf: (run) => this.#dispatchOf(run),
      emit: (notice) => this.#notices.emit(notice),
      onEnd: () => this.#wakeIfSettled(),
    });
    this.#committed = new CommittedState(definition, this.#runs, this.#notices);
  }

  /** Starts the effects of the initial state, and returns the public methods of the machine. */
  start(): Moorex<State, Input, Effect, Detail, Position> {
    this.#committed.reconcile();
    this.#activity = "idle";
    this.#drain();
    return {
      dispatch: this.#dispatchOf(undefined),
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

  #dispatchOf(run: Run<Effect> | undefined): Dispatch<State, Input> {
    return (...inputs) => {
      if (this.#activity === "transitioning")
        throw new Error("A transition must not dispatch. Return the next state instead.");
      if (run?.phase === "over") return this.#notApplied();
      if (this.#isStopped) return this.#refuse();
      const batch = newBatch<State, Input, Effect>(inputs, run);
      this.#queue.add(batch);
      this.#drain();
      return resultOf(batch);
    };
  }

  #notApplied(): Promise<{ readonly applied: 0; readonly state: State }> {
    return Promise.resolve({ applied: 0, state: this.#committed.state });
  }

  #refuse(): Promise<never> {
    const error = new Error("This machine was stopped and accepts no more inputs. Create another one.");
    this.#notices.error("dispatch", error);
    return rejected(error);
  }

  #stop(): void {
    this.#isStopped = true;
    this.#runs.stop();
    for (const batch of this.#queue.takeDeferred()) settleBatch(batch, this.#notApplied());
    this.#wakeIfSettled();
  }

  get #isSettled(): boolean {
    return this.#activity === "idle" && this.#runs.isSettled && this.#queue.isEmpty;
  }

  #wakeIfSettled(): void {
    if (this.#onSettled.length === 0 || !this.#isSettled) return;
    for (const wake of this.#onSettled.splice(0)) wake();
  }

  #drain(): void {
    if (this.#activity !== "idle") return;
    while (!this.#queue.isEmpty) {
      const later = this.#process(this.#queue.take());
      if (later === undefined) continue;
      const proceed = (): void => {
        this.#activity = "idle";
        this.#drain();
      };
      later.then(proceed, (error: unknown) => {
        this.#notices.error("commit", error);
        proceed();
      });
      return;
    }
    this.#activity = "idle";
    this.#wakeIfSettled();
  }

  /** Commits a group, and again after each conflict with other inputs. A promise only if `commit` returned one. */
  #process(group: readonly Batch<State, Input, Effect>[]): Promise<void> | undefined {
    for (;;) {
      const draft = this.#transitionAll(group);
      let result: CommitResult<Input, Position>;
      try {
        const answer = this.#commit(draft);
        if (answer !== undefined && "then" in answer) return this.#processLater(group, draft, answer);
        result = answer;
      } catch (error) {
        return this.#commitFailed(group, error);
      }
      if (this.#finish(draft, result)) return undefined;
    }
  }

  async #processLater(
    group: readonly Batch<State, Input, Effect>[],
    draft: GroupTransition<State, Input, Effect, Detail>,
    answer: Promise<CommitResult<Input, Position>>,
  ): Promise<void> {
    let result: CommitResult<Input, Position>;
    try {
      result = await answer;
    } catch (error) {
      return this.#commitFailed(group, error);
    }
    if (!this.#finish(draft, result)) await this.#process(group);
  }

  #transitionAll(
    group: readonly Batch<State, Input, Effect>[],
  ): GroupTransition<State, Input, Effect, Detail> {
    this.#activity = "transitioning";
    const draft = transitionGroup(group, this.#committed.state, this.#transition, (state) =>
      this.#committed.wantedAt(state),
    );
    this.#activity = "publishing";
    return draft;
  }

  #commit({ steps }: GroupTransition<State, Input, Effect, Detail>) {
    if (steps.length === 0) return undefined;
    this.#activity = "committing";
    return this.#definition.commit?.(steps);
  }

  #commitFailed(group: readonly Batch<State, Input, Effect>[], error: unknown): undefined {
    let key: string | undefined;
    for (const batch of group) {
      if (batch.result !== undefined) continue;
      if (batch.run === undefined) settleBatch(batch, rejected(error));
      else if (this.#isStopped) settleBatch(batch, this.#notApplied());
      else {
        this.#queue.defer(batch);
        key ??= batch.run.key;
      }
    }
    this.#notices.error("commit", error, key);
  }

  /** Publishes a durable group. If other inputs were committed first, publishes those instead and returns false. */
  #finish(
    draft: GroupTransition<State, Input, Effect, Detail>,
    result: CommitResult<Input, Position>,
  ): boolean {
    this.#activity = "publishing";
    if (result !== undefined && "before" in result && result.before.length > 0) {
      this.#applyForeign(result.before);
      return false;
    }
    this.#committed.publish(draft, result !== undefined && "positions" in result ? result.positions : []);
    if (!this.#isStopped) this.#committed.reconcile();
    return true;
  }

  /** Applies and publishes inputs that others committed first, and ends the runs that they retire. Starts no effects yet. */
  #applyForeign(committed: readonly CommittedInput<Input, Position>[]): void {
    const draft = this.#transitionAll(committed.map(({ input }) => newBatch([input])));
    const positions = committed.flatMap(({ position }, index) =>
      isApplied(draft.outcomes[index]) ? [position] : [],
    );
    this.#committed.publish(draft, positions, "foreign");
    this.#committed.retire();
  }
}
