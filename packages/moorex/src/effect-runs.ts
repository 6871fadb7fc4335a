import { Batch, dispatchOf, type Enqueue } from "./batch.ts";
import type { BatchResult, DispatchedInput, EffectRun, RunContext } from "./definition.ts";
import type { RefusedEffect } from "./intents.ts";

/** One run of an effect. */
export class Run<State, Input, Effect> implements RunContext<State, Input> {
  readonly key: string;
  readonly effect: Effect;
  /**
   * `ended`: `start` has ended; its later inputs are dropped, those that wait are not. `retired`: the state no longer wants
   * the effect, or the machine was stopped; the inputs that wait are dropped as well.
   */
  phase: "running" | "ended" | "retired" = "running";
  /** Whether an accepted batch of this run retired it, so that its end counts as a completion, not as a cancellation. */
  isAnswered = false;
  /** How much it counts in the foreground, for which `settled` waits: 0 for a background effect. */
  foreground: 0 | 1 = 1;
  #work: Pick<EffectRun<unknown, unknown>, "cancel"> | undefined;
  #abortReason: DOMException | undefined;
  #controller: AbortController | undefined;

  readonly #enqueue: Enqueue<State, Input, Effect>;

  constructor(key: string, effect: Effect, enqueue: Enqueue<State, Input, Effect>) {
    this.key = key;
    this.effect = effect;
    this.#enqueue = enqueue;
  }

  post(
    inputs: readonly DispatchedInput<State, Input>[],
    settled?: (result: BatchResult<State>) => void,
  ): void {
    this.#enqueue(new Batch(inputs, this, settled));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Whether an error is the reaction to the abort of this run, which is not a failure. */
  isAbortError(error: unknown): boolean {
    if (this.#abortReason === undefined) return false;
    return error === this.#abortReason || (error instanceof Error && error.name === "AbortError");
  }

  /** Calls `cancel` of the work when the run is aborted. */
  linkTo(work: Pick<EffectRun<unknown, unknown>, "cancel">): void {
    this.#work = work;
  }

  /** Aborts the signal. Throws what `cancel` throws. */
  abort(reason: DOMException): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
    this.#work?.cancel?.(reason);
  }
}

/** The notices about a run. */
export type RunNotice<Effect> =
  | { readonly type: "effect-started"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-completed"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-failed"; readonly key: string; readonly effect: Effect; readonly error: unknown }
  | { readonly type: "effect-canceled"; readonly key: string; readonly effect: Effect };

interface RunOptions<State, Input, Effect> {
  readonly runEffect: (effect: Effect, state: State, key: string) => EffectRun<State, Input>;
  readonly enqueue: Enqueue<State, Input, Effect>;
  readonly emit: (notice: RunNotice<Effect>) => void;
  /** Called with an exception that does not end a run. */
  readonly failed: (error: unknown, key: string) => void;
  readonly isBackground: (effect: Effect, state: State) => boolean;
  /** Called after each run that ended, and after the `start` of a run that its own input had retired. */
  readonly onEnd: () => void;
}

const noLongerWanted: DOMException = new DOMException("The state no longer wants this effect.", "AbortError");
/** The reason of aborts by `stop`. The state still wants these effects; a machine that continues from it starts them again. */
const stopped: DOMException = new DOMException("The machine was stopped.", "ShutdownError");

/** The runs of a machine. Ensures I1 to I3: the running keys are the wanted keys without the finished ones. */
export class EffectRuns<State, Input, Effect> {
  readonly #options: RunOptions<State, Input, Effect>;
  /** The runs of the wanted keys: those that are running and those that have ended. */
  readonly #runs = new Map<string, Run<State, Input, Effect>>();
  /** The runs that their own inputs retired while `start` still runs. */
  readonly #answered = new Set<Run<State, Input, Effect>>();
  /** The number of running keys that are not in the background. */
  #foreground = 0;
  /** The number of answered runs that are not in the background. */
  #answeredForeground = 0;
  #isStopped = false;

  constructor(options: RunOptions<State, Input, Effect>) {
    this.#options = options;
  }

  /** The number of running keys that are not in the background. */
  get foreground(): number {
    return this.#foreground;
  }

  /** Whether no `start` runs for which `settled` waits: one in the foreground that has not been aborted. */
  get isSettled(): boolean {
    return this.#isStopped || this.#foreground + this.#answeredForeground === 0;
  }

  /** Whether the effect of a key is running or has finished, so that it does not start now. */
  isStarted(key: string): boolean {
    return this.#runs.has(key);
  }

  /** Ends the runs whose keys `wanted` does not contain. A finished key that is no longer wanted may start again later. */
  retire(wanted: Readonly<Record<string, Effect>>): void {
    for (const run of this.#runs.values()) {
      if (Object.hasOwn(wanted, run.key)) run.isAnswered = false;
      else if (run.phase === "ended") this.#remove(run);
      else if (run.isAnswered && !this.#isStopped) this.#answer(run);
      else this.#cancel(run);
    }
  }

  /** Starts the wanted effects whose keys are neither running nor finished. */
  start(wanted: Readonly<Record<string, Effect>>, state: State): void {
    for (const key of Object.keys(wanted)) {
      if (this.#isStopped) return;
      const effect = wanted[key];
      if (effect === undefined || this.isStarted(key)) continue;
      this.#start(key, effect, state);
    }
  }

  /** Counts effects as finished that are not run, and reports those that failed. */
  refuse(refused: readonly RefusedEffect<Effect>[], wanted: Readonly<Record<string, Effect>>): void {
    for (const { key, effect, failure } of refused) {
      if (!Object.hasOwn(wanted, key)) continue;
      const run = new Run(key, effect, this.#options.enqueue);
      run.phase = "ended";
      this.#runs.set(key, run);
      if (failure !== undefined)
        this.#options.emit({ type: "effect-failed", key, effect, error: failure.error });
    }
  }

  /** Ends every run; none starts anymore. */
  stop(): void {
    this.#isStopped = true;
    this.retire({});
    for (const run of this.#answered) this.#abort(run, stopped);
  }

  #start(key: string, effect: Effect, state: State): void {
    const { emit, runEffect, isBackground, enqueue } = this.#options;
    const run = new Run(key, effect, enqueue);
    this.#runs.set(key, run);
    this.#foreground += 1;
    emit({ type: "effect-started", key, effect });
    // A listener that stops the machine ends the run before it begins, and so may `runEffect`.
    if (this.#isStopped) return;
    try {
      if (isBackground(effect, state)) {
        run.foreground = 0;
        this.#foreground -= 1;
      }
      const work = runEffect(effect, state, key);
      if (this.#isStopped) return;
      run.linkTo(work);
      work.start(dispatchOf(enqueue, run), run).then(
        () => this.#finish(run),
        (error: unknown) => this.#finish(run, { error }),
      );
    } catch (error) {
      this.#finish(run, { error });
    }
  }

  /** Handles the end of `start`. After the end of its run, only an error of it is reported. */
  #finish(run: Run<State, Input, Effect>, failure?: { readonly error: unknown }): void {
    const { key, effect } = run;
    if (run.phase === "running") {
      run.phase = "ended";
      return this.#end(
        run,
        failure === undefined
          ? { type: "effect-completed", key, effect }
          : { type: "effect-failed", key, effect, error: failure.error },
      );
    }
    if (failure !== undefined && !run.isAbortError(failure.error)) this.#options.failed(failure.error, key);
    if (!this.#answered.delete(run)) return;
    this.#answeredForeground -= run.foreground;
    this.#options.onEnd();
  }

  /** Ends a run that its own input has retired. Its `start` continues. */
  #answer(run: Run<State, Input, Effect>): void {
    const { key, effect } = run;
    this.#remove(run);
    this.#answered.add(run);
    this.#answeredForeground += run.foreground;
    this.#end(run, { type: "effect-completed", key, effect });
  }

  #cancel(run: Run<State, Input, Effect>): void {
    const { key, effect } = run;
    const reason = this.#isStopped ? stopped : noLongerWanted;
    this.#remove(run);
    this.#end(run, { type: "effect-canceled", key, effect });
    this.#abort(run, reason);
  }

  #abort(run: Run<State, Input, Effect>, reason: DOMException): void {
    try {
      run.abort(reason);
    } catch (error) {
      this.#options.failed(error, run.key);
    }
  }

  #remove(run: Run<State, Input, Effect>): void {
    run.phase = "retired";
    this.#runs.delete(run.key);
  }

  #end(run: Run<State, Input, Effect>, notice: RunNotice<Effect>): void {
    this.#foreground -= run.foreground;
    this.#options.emit(notice);
    this.#options.onEnd();
  }
}
