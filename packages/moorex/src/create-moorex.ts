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
 *   committed states only, one by one; effects are reconciled after the last. `{ before }` is applied and published
 *   first, then the batch is transitioned again. While a commit runs, later inputs queue and go together. If it fails,
 *   outside dispatches reject, effects' own inputs go in front of what comes next, nothing starts.
 * - I6 A throwing transition, effectsAt, runEffect or listener affects nothing else: the state stays, the error is
 *   reported as a notice, the machine continues. `onNotice` hears every notice from creation on.
 */
import type {
  CommitResult,
  Dispatch,
  ErrorSource,
  Moorex,
  MoorexDefinition,
  MoorexNotice,
} from "./definition.ts";
import {
  transitionGroup,
  settleBatch,
  markHandled,
  newBatch,
  type GroupTransition,
  type Batch,
} from "./batch.ts";
import { effectRuns, type Run } from "./effect-runs.ts";
import { notifier } from "./notifier.ts";

export function createMoorex<State, Input, Effect>(
  definition: MoorexDefinition<State, Input, Effect>,
): Moorex<State, Input, Effect> {
  type Notice = MoorexNotice<State, Input, Effect>;
  type ThisBatch = Batch<State, Input, Effect>;
  const { transition, effectsAt, commit } = definition;
  const notices = notifier<Notice>(definition.onNotice, (error, heard) =>
    heard.type === "error-caught" ? undefined : { type: "error-caught", source: "subscriber", error },
  );
  const waiting: (() => void)[] = [];
  let state = definition.initial();
  let queue: ThisBatch[] = [];
  /** Inputs of effects whose commit failed: offered again, in front of whatever comes next. */
  let deferred: ThisBatch[] = [];
  /** Whether the committed state moved since the effects were last reconciled. */
  let changed = false;
  let busy = true;
  let transitioning = false;
  let stopped = false;

  const caught = (source: Exclude<ErrorSource, "subscriber">, error: unknown, key?: string): void =>
    notices.emit({ type: "error-caught", source, error, ...(key === undefined ? {} : { key }) });

  const refused = (): Promise<never> => {
    const error = new Error("This machine is stopped and takes no more inputs: create another one.");
    caught("dispatch", error);
    return markHandled(Promise.reject(error));
  };

  const dispatchOf =
    (run: Run<Effect> | undefined): Dispatch<State, Input> =>
    (...inputs) => {
      if (transitioning)
        throw new Error("Reentrant: a transition must not dispatch; return the state instead.");
      if (run !== undefined && !run.live) return Promise.resolve({ applied: 0, state });
      if (stopped) return refused();
      const batch: ThisBatch = newBatch(inputs, run);
      queue.push(batch);
      drain();
      return batch.result ?? markHandled(new Promise((resolve) => (batch.settle = resolve)));
    };

  const runs = effectRuns<State, Input, Effect>({
    runEffect: (effect, at, key) => definition.runEffect(effect, at, key),
    dispatchOf,
    emit: notices.emit,
    onEnd: () => wakeIfSettled(),
  });

  const wakeIfSettled = (): void => {
    if (busy || runs.size > 0 || queue.length > 0) return;
    for (const wake of waiting.splice(0)) wake();
  };

  const wantedAt = (at: State): Readonly<Record<string, Effect>> | undefined => {
    try {
      const wanted = effectsAt(at);
      if (typeof wanted === "object" && wanted !== null) return wanted;
      throw new TypeError(`effectsAt must return an object of effects by key, got ${String(wanted)}.`);
    } catch (error) {
      caught("effectsAt", error);
      return undefined;
    }
  };

  const reconcile = (): void => {
    if (stopped) return;
    changed = false;
    const wanted = wantedAt(state);
    if (wanted === undefined) return;
    runs.retire(wanted);
    runs.start(wanted, state);
  };

  const transitioned = (group: readonly ThisBatch[]): GroupTransition<State, Input, Effect> => {
    transitioning = true;
    const draft = transitionGroup(group, state, transition, wantedAt);
    transitioning = false;
    return draft;
  };

  const publish = ({ outcomes }: GroupTransition<State, Input, Effect>): void => {
    for (const outcome of outcomes) {
      const { batch, inputs } = outcome;
      if ("error" in outcome) {
        settleBatch(batch, markHandled(Promise.reject(outcome.error)));
        caught("transition", outcome.error, batch.run?.key);
        continue;
      }
      let applied = 0;
      for (const { input, step } of inputs) {
        if (step !== undefined) {
          state = step.after;
          changed = true;
          applied += 1;
        }
        if (!notices.hasListeners) continue;
        notices.emit({ type: "input-received", input });
        if (step === undefined) notices.emit({ type: "input-ignored", input, state });
        else notices.emit({ type: "state-updated", input, before: step.before, state });
      }
      if (applied > 0 && batch.run !== undefined && outcome.goesOn !== true) batch.run.answered = true;
      settleBatch(batch, Promise.resolve({ applied, state }));
    }
  };

  /** Inputs that others made durable first: applied, published, and the runs they retire ended; none started yet. */
  const applyForeign = (inputs: readonly Input[]): void => {
    publish(transitioned([newBatch(inputs)]));
    const wanted = wantedAt(state);
    if (wanted !== undefined) runs.retire(wanted);
  };

  const commitFailed = (group: readonly ThisBatch[], error: unknown): void => {
    for (const batch of group) {
      if (batch.result !== undefined) continue;
      if (batch.run === undefined) settleBatch(batch, markHandled(Promise.reject(error)));
      else if (stopped) settleBatch(batch, Promise.resolve({ applied: 0, state }));
      else deferred.push(batch);
    }
    caught("commit", error, deferred[0]?.run?.key);
  };

  const settle = (draft: GroupTransition<State, Input, Effect>): undefined => {
    publish(draft);
    if (changed) reconcile();
  };

  /** Commits a group, again and again while others were first. A promise only where `commit` gave one. */
  const process = (group: readonly ThisBatch[]): Promise<void> | undefined => {
    for (;;) {
      const draft = transitioned(group);
      if (commit === undefined || draft.steps.length === 0) return settle(draft);
      let result: CommitResult<Input>;
      try {
        const answer = commit(draft.steps);
        if (answer !== undefined && "then" in answer) return processLater(group, draft, answer);
        result = answer;
      } catch (error) {
        commitFailed(group, error);
        return undefined;
      }
      if (result === undefined || result.before.length === 0) return settle(draft);
      applyForeign(result.before);
    }
  };

  const processLater = async (
    group: readonly ThisBatch[],
    first: GroupTransition<State, Input, Effect>,
    answer: Promise<CommitResult<Input>>,
  ): Promise<void> => {
    let draft = first;
    try {
      let result = await answer;
      while (result !== undefined && result.before.length > 0) {
        applyForeign(result.before);
        draft = transitioned(group);
        result = draft.steps.length === 0 ? undefined : await commit?.(draft.steps);
      }
    } catch (error) {
      commitFailed(group, error);
      return;
    }
    settle(draft);
  };

  const drain = (): void => {
    if (busy) return;
    busy = true;
    while (queue.length > 0) {
      const later = process(nextGroup());
      if (later === undefined) continue;
      const proceed = (): void => {
        busy = false;
        drain();
      };
      later.then(proceed, (error: unknown) => {
        caught("commit", error);
        proceed();
      });
      return;
    }
    busy = false;
    wakeIfSettled();
  };

  /** Everything that waits goes together where there is a commit to share, one by one otherwise. */
  let next = 0;
  const nextGroup = (): readonly ThisBatch[] => {
    if (commit === undefined && next + 1 < queue.length) return queue.slice(next, ++next);
    const group = [...deferred, ...queue.slice(next)];
    deferred = [];
    queue = [];
    next = 0;
    return group;
  };

  reconcile();
  busy = false;
  drain();

  return {
    dispatch: dispatchOf(undefined),
    current: () => state,
    subscribe: notices.subscribe,
    settled: () =>
      busy || runs.size > 0 || queue.length > 0
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(),
    stop() {
      stopped = true;
      runs.stop();
      for (const batch of deferred.splice(0)) settleBatch(batch, Promise.resolve({ applied: 0, state }));
      wakeIfSettled();
    },
  };
}
