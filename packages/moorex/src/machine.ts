/**
 * The runner: applies inputs, commits and publishes them, and keeps the running effects equal to those that the state
 * wants. Its invariants:
 *
 * - I1 Between groups of inputs the running keys are the wanted keys without the finished ones, from creation on. An effect
 *   that has an intent starts only after a commit of this intent. The intents of the effects that a group makes wanted are
 *   transitioned after its inputs, and those of the effects that they make wanted, until nothing new is wanted; one commit
 *   stores the inputs and the intents. With `withIntents` they become part of the last input of the group. A batch without inputs reconciles again, for an `effectsAt` that depends on more than the state. An effect whose intent does not apply is not run: its key counts as finished. An effect that
 *   `mayStart` holds waits, without an intent, for a later reconciliation.
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
 *   only committed states, one by one; effects are reconciled after the last one.
 *   `{ before }` is applied and published first, then the group is transitioned again, with its late-bound inputs and its
 *   intents. During a commit, later inputs are queued and committed together. If a commit fails, dispatches from outside
 *   reject, the inputs of effects are committed again before later inputs, and no effect starts.
 * - I6 An exception of the transition, effectsAt, isWanted, mayStart, intentOf, withIntents, runEffect, a run or a listener affects nothing else: the
 *   state does not change, a notice reports the error, also after the end of the run, and the machine continues. `onNotice`
 *   receives every notice from creation on.
 */
import type {
  BatchResult,
  CommitResult,
  CommittedInput,
  Dispatch,
  DispatchResult,
  ErrorSource,
  Moorex,
  MoorexDefinition,
  MoorexNotice,
  Step,
} from "./definition.ts";
import {
  isStep,
  planAt,
  Run,
  transitionGroup,
  type Batch,
  type Draft,
  type Entry,
  type PlanRules,
} from "./group.ts";

/**
 * Creates a machine and starts the effects of its initial state. The machine applies inputs one at a time, commits them,
 * publishes the state, and keeps the running effects equal to those that the state wants. Throws what `initial` throws, and
 * `TypeError` for a field that a definition does not have; an exception of any other function of the definition does not stop the machine (see I6).
 */
export function createMoorex<State, Input, Effect>(
  definition: MoorexDefinition<State, Input, Effect>,
): Moorex<State, Input, Effect> {
  const unknown = Object.keys(definition).find((name) => !names.includes(name));
  // A misspelled `commit` would store nothing.
  if (unknown !== undefined)
    throw new TypeError(`Unknown field "${unknown}" of createMoorex. Known fields: ${names.join(", ")}.`);
  return new Machine(definition).start();
}

const names: readonly string[] =
  "initial transition effectsAt isWanted mayStart intentOf withIntents runEffect defer commit isBackground onNotice".split(
    " ",
  );

type Listener<Notice> = (notice: Notice) => void;

/** What became of a commit: the steps are durable, other inputs were first, or it has failed. */
type Committed<Input> = "durable" | readonly CommittedInput<Input>[] | { readonly error: unknown };

const noLongerWanted: DOMException = new DOMException("The state no longer wants this effect.", "AbortError");
/** The reason of aborts by `stop`. The state still wants these effects; a machine that continues from it starts them again. */
const stopped: DOMException = new DOMException("The machine was stopped.", "ShutdownError");

/** The queue, the committed state and the runs of a machine. */
class Machine<State, Input, Effect> {
  readonly #definition: MoorexDefinition<State, Input, Effect>;
  readonly #listeners = new Set<Listener<MoorexNotice<State, Input, Effect>>>();
  /** Inputs that arrive while the machine is not idle wait in the queue. */
  #activity: "idle" | "transitioning" | "committing" | "publishing" = "idle";
  #isStopped = false;

  /** All batches that wait are taken together, as one group. */
  #waiting: Batch<State, Input, Effect>[] = [];
  /** Batches of effects whose commit failed. They are taken again, before the next batch. */
  #deferred: Batch<State, Input, Effect>[] = [];
  /** Whether `defer` has been asked to process the queue. */
  #isDeferred = false;
  #onSettled: (() => void)[] = [];

  /** The newest committed state, which all subscribers see. */
  #state: State;
  /** Whether the effects are to be reconciled: the state has changed since, or a batch without inputs asks for it. */
  #hasChanged = true;

  /** The runs of the wanted keys: those that are running and those that have ended. */
  readonly #runs = new Map<string, Run<State, Input, Effect>>();
  /** The runs that their own inputs retired while `start` still runs. */
  readonly #answered = new Set<Run<State, Input, Effect>>();
  /** The number of running keys that are not in the background. */
  #foreground = 0;

  constructor(definition: MoorexDefinition<State, Input, Effect>) {
    this.#definition = definition;
    const { onNotice } = definition;
    if (onNotice !== undefined) this.#listeners.add(onNotice);
    this.#state = definition.initial();
  }

  /** Starts the effects of the initial state, and returns the public methods of the machine. */
  start(): Moorex<State, Input, Effect> {
    this.#process([]);
    return {
      dispatch: this.#dispatchOf(undefined),
      current: () => this.#state,
      running: () =>
        [...this.#runs.values()].flatMap(({ phase, effect }) => (phase === "running" ? [effect] : [])),
      subscribe: (listener) => {
        const own: typeof listener = (notice) => listener(notice);
        this.#listeners.add(own);
        return () => void this.#listeners.delete(own);
      },
      settled: () =>
        this.#isSettled
          ? Promise.resolve()
          : new Promise((resolve) => {
              this.#onSettled.push(resolve);
            }),
      stop: () => this.#stop(),
    };
  }

  // The queue: what is dispatched, and when it is processed.

  /** The dispatch of a run, or of callers outside. */
  #dispatchOf(run: Run<State, Input, Effect> | undefined): Dispatch<State, Input> {
    return (...inputs) => {
      const { promise, resolve, reject } = Promise.withResolvers<DispatchResult<State>>();
      const settled = (result: BatchResult<State>): void =>
        "error" in result ? reject(result.error) : resolve(result);
      // A caller need not catch the error, because a notice reports it too.
      promise.catch(() => undefined);
      this.#enqueue({ inputs, run, settled, result: undefined });
      return promise;
    };
  }

  readonly #enqueue = (batch: Batch<State, Input, Effect>): void => {
    if (this.#activity === "transitioning")
      throw new Error("A transition must not dispatch. Return the next state instead.");
    const { run } = batch;
    if (run === undefined ? this.#isStopped : run.phase !== "running") return this.#refuse(batch);
    this.#waiting.push(batch);
    if (this.#activity !== "idle") return;
    if (run === undefined || this.#foreground < 2) this.#process(this.#take());
    else this.#processLater();
  };

  /** Processes the queue later, together with what other effects dispatch until then. */
  #processLater(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    const process = (): void => {
      this.#isDeferred = false;
      if (this.#activity === "idle") this.#process(this.#take());
    };
    if (this.#definition.defer === undefined) void Promise.resolve().then(process);
    else this.#definition.defer(process);
  }

  /** Removes and returns the batches to process next; undefined if none waits. */
  #take(): readonly Batch<State, Input, Effect>[] | undefined {
    if (this.#waiting.length === 0) return undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    return this.#deferred.length === 0 ? waiting : [...this.#deferred.splice(0), ...waiting];
  }

  /** Settles a batch of a run that is over, or one from outside after `stop`, and reports it. */
  #refuse(batch: Batch<State, Input, Effect>): void {
    if (batch.run === undefined) {
      const error = new Error("This machine was stopped and accepts no more inputs. Create another one.");
      batch.result = { error };
      this.#error("dispatch", error);
    } else this.#drop(batch, batch.run);
    this.#report(batch);
  }

  /** Settles a batch of a run that is over, without applying it, and reports its inputs. */
  #drop(batch: Batch<State, Input, Effect>, { key }: Run<State, Input, Effect>): void {
    for (const input of batch.inputs) this.#emit({ type: "input-dropped", key, input });
    batch.result = { applied: 0, state: this.#state };
  }

  /** Reports the result of a batch to the caller that waits for it, if it is known. */
  #report({ result, settled, run }: Batch<State, Input, Effect>): void {
    if (result === undefined) return;
    try {
      settled?.(result);
    } catch (error) {
      this.#error("effect", error, run?.key);
    }
  }

  get #isSettled(): boolean {
    if (this.#activity !== "idle" || this.#waiting.length + this.#deferred.length > 0) return false;
    return (
      this.#isStopped || (this.#foreground === 0 && [...this.#answered].every((run) => run.foreground === 0))
    );
  }

  #wakeIfSettled(): void {
    if (this.#onSettled.length === 0 || !this.#isSettled) return;
    for (const wake of this.#onSettled.splice(0)) wake();
  }

  #stop(): void {
    this.#isStopped = true;
    this.#retire({});
    for (const run of this.#answered) this.#abort(run, stopped);
    for (const batch of this.#deferred.splice(0)) this.#refuse(batch);
    this.#wakeIfSettled();
  }

  // Groups: transition, commit, publish, reconcile.

  /** Processes a group, and then the queue until it is empty or a commit takes time. */
  #process(first: readonly Batch<State, Input, Effect>[] | undefined): void {
    for (let group = first; group !== undefined;) {
      const draft = this.#draft(group);
      let committed: Committed<Input> = "durable";
      if (draft.steps.length > 0 && this.#definition.commit !== undefined) {
        this.#activity = "committing";
        try {
          const answer = this.#definition.commit(draft.steps);
          if (isPromise(answer)) return this.#processAfter(answer, draft);
          committed = committedOf(answer);
        } catch (error) {
          committed = { error };
        }
      }
      group = this.#finish(draft, committed);
    }
    this.#activity = "idle";
    this.#wakeIfSettled();
  }

  #processAfter(answer: Promise<CommitResult<Input>>, draft: Draft<State, Input, Effect>): void {
    answer.then(
      (result) => this.#process(this.#finish(draft, committedOf(result))),
      (error: unknown) => this.#process(this.#finish(draft, { error })),
    );
  }

  #draft(group: readonly Batch<State, Input, Effect>[]): Draft<State, Input, Effect> {
    this.#activity = "transitioning";
    if (group.some(({ inputs }) => inputs.length === 0)) this.#hasChanged = true;
    const draft = transitionGroup(group, this.#state, this.#transition, this.#isWanted);
    const mayStart = !this.#isStopped && (draft.steps.length > 0 || this.#hasChanged);
    if (mayStart && this.#definition.intentOf !== undefined) {
      const plan = this.#plan(draft.after, draft.steps.at(-1));
      for (const entry of plan.entries) if (isStep(entry)) draft.steps.push(entry);
      draft.after = plan.after;
      draft.plan = plan;
    }
    this.#activity = "publishing";
    return draft;
  }

  /** Publishes a durable group and returns the next one: the same one again if other inputs were committed first. */
  #finish(
    draft: Draft<State, Input, Effect>,
    committed: Committed<Input>,
  ): readonly Batch<State, Input, Effect>[] | undefined {
    this.#activity = "publishing";
    if (committed === "durable") {
      this.#publish(draft, "transition");
      if (!this.#isStopped) this.#reconcile(draft.plan);
    } else if ("error" in committed) this.#fail(draft, committed.error);
    else {
      this.#applyForeign(committed);
      return draft.batches;
    }
    for (const batch of draft.batches) this.#report(batch);
    return this.#take();
  }

  /** Keeps the inputs of effects after a failed commit, and settles those from outside. */
  #fail({ batches, plan }: Draft<State, Input, Effect>, error: unknown): void {
    let key: string | undefined;
    for (const batch of batches) {
      if (batch.run === undefined) batch.result = { error };
      else if (batch.run.phase === "retired") this.#drop(batch, batch.run);
      else {
        this.#deferred.push(batch);
        key ??= batch.run.key;
      }
    }
    // The committed state may want effects that have not begun: their intents were not stored, or it was reached by foreign inputs.
    if (this.#hasChanged && !this.#isStopped)
      key ??= plan?.entries.find(isStep)?.key ?? plan?.begun[0] ?? this.#unstartedKey();
    this.#error("commit", error, key);
  }

  /** The key of an effect that the state wants and that may start; undefined for any other one. */
  #unstartedKey(): string | undefined {
    const wanted = Object.entries(this.#wantedAt(this.#state) ?? {});
    return wanted.find(
      ([key, effect]) => !this.#isStarted(key) && this.#mayStart(effect, key, this.#state),
    )?.[0];
  }

  /** Applies and publishes inputs that others committed first, and ends the runs that they retire. Starts no effects yet. */
  #applyForeign(committed: readonly CommittedInput<Input>[]): void {
    this.#activity = "transitioning";
    const batches = committed.map(({ input }) => ({
      inputs: [input],
      run: undefined,
      settled: undefined,
      result: undefined,
    }));
    const draft = transitionGroup(batches, this.#state, this.#transition, this.#isWanted);
    this.#activity = "publishing";
    this.#publish(draft, "foreign");
    const wanted = this.#wantedAt(this.#state);
    if (wanted !== undefined) this.#retire(wanted);
  }

  /** Publishes the steps of a committed draft one by one, and settles its batches. */
  #publish(draft: Draft<State, Input, Effect>, source: "transition" | "foreign"): void {
    let index = 0;
    for (const batch of draft.batches) {
      const outcome = draft.outcomes[index++];
      const { run } = batch;
      if (outcome === undefined || outcome === "dropped") {
        if (run !== undefined) this.#drop(batch, run);
      } else if ("error" in outcome) {
        batch.result = outcome;
        this.#error(source, outcome.error, run?.key);
      } else {
        const applied = this.#publishEntries(outcome);
        if (applied > 0 && run?.phase === "running")
          // Reconciling finds out whether the last state of the draft wants the run.
          run.isAnswered = this.#state === draft.after || !this.#isWanted(run, this.#state);
        batch.result = { applied, state: this.#state };
      }
    }
    if (draft.plan !== undefined) this.#publishEntries(draft.plan.entries);
  }

  /** Publishes inputs and returns how many of them have changed the state. */
  #publishEntries(entries: readonly Step<State, Input>[]): number {
    let applied = 0;
    for (const entry of entries) {
      const { input, before, after: state } = entry;
      const isApplied = before !== state;
      if (isApplied) {
        this.#state = state;
        this.#hasChanged = true;
        applied += 1;
      }
      if (this.#listeners.size === 0) continue;
      this.#emit({ type: "input-received", input });
      if (isApplied) this.#emit({ type: "state-updated", input, before, state });
      else this.#emit({ type: "input-ignored", input, state: this.#state });
    }
    return applied;
  }

  /** Ends and starts effects so that those run that the state wants, if that may have changed. */
  #reconcile(planned: Draft<State, Input, Effect>["plan"]): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const { wanted, refused, held, entries, begun } = planned ?? this.#plan(this.#state);
    if (wanted === undefined) return;
    this.#retire(wanted);
    for (const { key, effect, failure } of refused) {
      if (!Object.hasOwn(wanted, key)) continue;
      const run = new Run(key, effect, this.#enqueue);
      run.phase = "ended";
      this.#runs.set(key, run);
      if (failure !== undefined) this.#emit({ type: "effect-failed", key, effect, error: failure.error });
    }
    for (const key of Object.keys(wanted)) {
      if (this.#isStopped) return;
      const effect = wanted[key];
      if (effect === undefined || this.#isStarted(key) || held?.has(key) === true) continue;
      const hasIntent = begun.includes(key) || entries.some((entry) => entry.key === key);
      if (this.#mayStart(effect, key, this.#state) || hasIntent) this.#start(key, effect);
    }
  }

  // The functions of the definition, whose exceptions affect nothing else.

  readonly #transition = (input: Input): ((state: State) => State) => this.#definition.transition(input);

  readonly #isStarted = (key: string): boolean => this.#runs.has(key);

  #plan(state: State, cause?: Entry<State, Input>) {
    const rules = {
      definition: this.#definition,
      wantedAt: this.#wantedAt,
      isStarted: this.#isStarted,
      mayStart: this.#mayStart,
      withIntents: this.#withIntents,
    };
    const part = this.#definition.withIntents === undefined ? undefined : cause;
    return planAt<State, Input, Effect>(state, rules, part);
  }

  /** The effects of a state by key; undefined if `effectsAt` throws, which is reported. */
  readonly #wantedAt = (state: State): Readonly<Record<string, Effect>> | undefined => {
    try {
      const wanted = this.#definition.effectsAt(state);
      if (typeof wanted === "object" && wanted !== null) return wanted;
      throw new TypeError(`effectsAt must return an object of effects by key, got ${String(wanted)}.`);
    } catch (error) {
      this.#error("effectsAt", error);
      return undefined;
    }
  };

  /** Whether a state wants the effect of a run. If that is not known because the function throws, it counts as wanted. */
  readonly #isWanted = ({ key, effect }: Run<State, Input, Effect>, state: State): boolean => {
    if (this.#definition.isWanted === undefined) {
      const wanted = this.#wantedAt(state);
      return wanted === undefined || Object.hasOwn(wanted, key);
    }
    try {
      return this.#definition.isWanted(key, state, effect);
    } catch (error) {
      this.#error("effectsAt", error, key);
      return true;
    }
  };

  readonly #mayStart = (effect: Effect, key: string, state: State): boolean => {
    try {
      return this.#definition.mayStart?.(effect, key, state) ?? true;
    } catch (error) {
      this.#error("effectsAt", error, key);
      return false;
    }
  };

  readonly #withIntents: PlanRules<State, Input, Effect>["withIntents"] = (step, intents) => {
    try {
      return this.#definition.withIntents?.(step, intents);
    } catch (error) {
      this.#error("effectsAt", error);
      return undefined;
    }
  };

  // The runs (I1 to I3).

  #start(key: string, effect: Effect): void {
    const run = new Run(key, effect, this.#enqueue);
    this.#runs.set(key, run);
    this.#foreground += 1;
    this.#emit({ type: "effect-started", key, effect });
    // A listener that stops the machine ends the run before it begins, and so may `runEffect`.
    if (this.#isStopped) return;
    try {
      if (this.#definition.isBackground?.(effect, this.#state) === true) {
        run.foreground = 0;
        this.#foreground -= 1;
      }
      const work = this.#definition.runEffect(effect, this.#state, key);
      if (this.#isStopped) return;
      run.work = work;
      work.start(this.#dispatchOf(run), run).then(
        () => this.#ended(run),
        (error: unknown) => this.#ended(run, { error }),
      );
    } catch (error) {
      this.#ended(run, { error });
    }
  }

  /** Handles the end of `start`. After the end of its run, only an error of it is reported. */
  #ended(run: Run<State, Input, Effect>, failure?: { readonly error: unknown }): void {
    const { key, effect } = run;
    if (run.phase === "running") {
      run.phase = "ended";
      this.#end(
        run,
        failure === undefined
          ? { type: "effect-completed", key, effect }
          : { type: "effect-failed", key, effect, error: failure.error },
      );
      return;
    }
    if (failure !== undefined && !run.isAbortError(failure.error)) this.#error("effect", failure.error, key);
    if (this.#answered.delete(run)) this.#wakeIfSettled();
  }

  /** Ends the runs whose keys `wanted` does not contain. A finished key that `wanted` does not contain may start again later. */
  #retire(wanted: Readonly<Record<string, Effect>>): void {
    for (const run of this.#runs.values()) {
      const { key, effect, phase } = run;
      if (Object.hasOwn(wanted, key)) {
        run.isAnswered = false;
        continue;
      }
      run.phase = "retired";
      this.#runs.delete(key);
      if (phase === "ended") continue;
      if (run.isAnswered && !this.#isStopped) {
        // Its `start` continues.
        this.#answered.add(run);
        this.#end(run, { type: "effect-completed", key, effect });
      } else {
        const reason = this.#isStopped ? stopped : noLongerWanted;
        this.#end(run, { type: "effect-canceled", key, effect });
        this.#abort(run, reason);
      }
    }
  }

  #abort(run: Run<State, Input, Effect>, reason: DOMException): void {
    try {
      run.abort(reason);
    } catch (error) {
      this.#error("effect", error, run.key);
    }
  }

  #end(run: Run<State, Input, Effect>, notice: MoorexNotice<State, Input, Effect>): void {
    this.#foreground -= run.foreground;
    this.#emit(notice);
    this.#wakeIfSettled();
  }

  // Notices, to `onNotice` first, then to the subscribers in the order in which they subscribed.

  #emit(notice: MoorexNotice<State, Input, Effect>): void {
    for (const listener of this.#listeners) {
      try {
        listener(notice);
      } catch (error) {
        // Errors that listeners throw for error notices are not reported: that could repeat endlessly.
        if (notice.type !== "error-caught") this.#error("subscriber", error);
      }
    }
  }

  /** Emits an error notice; `key` is that of the effect concerned. */
  #error(source: ErrorSource, error: unknown, key?: string): void {
    this.#emit({ type: "error-caught", source, error, ...(key === undefined ? {} : { key }) });
  }
}

const isPromise = <Value>(value: Value | Promise<Value>): value is Promise<Value> =>
  typeof value === "object" && value !== null && "then" in value;

/** What became of a commit with this result. One of another form, which code without types may return, is a failure. */
function committedOf<Input>(result: CommitResult<Input>): Committed<Input> {
  if (result === undefined) return "durable";
  const { before }: { readonly before?: unknown } = result ?? {};
  if (
    Array.isArray(before) &&
    before.every((entry) => typeof entry === "object" && entry !== null && "input" in entry)
  )
    return before.length === 0 ? "durable" : result.before;
  const found: unknown = before === undefined ? result : before;
  return { error: new TypeError(`commit must return { before } or undefined, got ${String(found)}.`) };
}
