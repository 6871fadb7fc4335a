/**
 * The runner: applies inputs, commits, publishes, and keeps the running effects equal to what the state wants.
 *
 * - I1 Between inputs the running keys are the wanted keys less the finished ones, from creation on.
 * - I2 A key that finished does not start again until a state did not want it.
 * - I3 Nothing that an old run of a key does late touches the state or a newer run. Its signal is aborted.
 * - I4 Inputs are applied one at a time in order; a dispatch is one atomic batch; dispatching from a subscriber or an
 *   effect queues; the stack does not grow. Without an asynchronous commit everything is published before `dispatch`
 *   returns.
 * - I5 Transition is speculative until committed: `commit` sees only inputs that changed something, subscribers see
 *   committed states only, one by one, each with its detail and its position; effects are reconciled after the last.
 *   `{ before }` is applied and published first, then the batch is transitioned again. While a commit runs, later inputs
 *   queue and go together. If it fails, outside dispatches reject, effects' own inputs go in front of what comes next,
 *   nothing starts.
 * - I6 A throwing transition, effectsAt, runEffect or listener affects nothing else: the state stays, the error is
 *   reported as a notice, the machine continues, and the other inputs of `{ before }` are applied. `onNotice` hears every
 *   notice from creation on.
 */
import { newBatch, rejected, resultOf, settleBatch, type Batch } from "./batch.ts";
import { BatchQueue } from "./batch-queue.ts";
import type { BaseDefinition, CommitResult, CommittedInput, Dispatch, Moorex } from "./definition.ts";
import { CommittedState } from "./committed-state.ts";
import { EffectRuns, type Run } from "./effect-runs.ts";
import { isApplied, transitionGroup, type GroupTransition, type Transition } from "./group.ts";
import { Notifier } from "./notifier.ts";

/** What a machine does now. Inputs that arrive while it is not idle wait in the queue. */
type Activity = "idle" | "transitioning" | "committing" | "publishing";

/** The processing of inputs: transition, commit, publish, reconcile. */
export class Machine<State, Input, Effect, Detail, Position> {
  readonly #definition: BaseDefinition<State, Input, Effect, Detail, Position>;
  readonly #transition: Transition<State, Input, Detail>;
  readonly #notices: Notifier<State, Input, Effect, Detail, Position>;
  readonly #queue: BatchQueue<State, Input, Effect>;
  readonly #runs: EffectRuns<State, Input, Effect>;
  readonly #committed: CommittedState<State, Input, Effect, Detail, Position>;
  /** A machine begins as if its initial state had been published. */
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

  /** Starts the effects of the initial state, and returns the machine as its users see it. */
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
        throw new Error("Reentrant: a transition must not dispatch; return the state instead.");
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
    const error = new Error("This machine is stopped and takes no more inputs: create another one.");
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

  /** Commits a group, again and again while others were first. A promise only where `commit` returned one. */
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

  /** Publishes a group that is durable. False if others were first: then their inputs are published, and the group is not. */
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

  /**
   * Inputs that others made durable first: applied and published one by one, and the runs they retire ended; none started
   * yet. The state continues without one whose transition throws.
   */
  #applyForeign(committed: readonly CommittedInput<Input, Position>[]): void {
    const draft = this.#transitionAll(committed.map(({ input }) => newBatch([input])));
    const positions = committed.flatMap(({ position }, index) =>
      isApplied(draft.outcomes[index]) ? [position] : [],
    );
    this.#committed.publish(draft, positions, "foreign");
    this.#committed.retire();
  }
}
