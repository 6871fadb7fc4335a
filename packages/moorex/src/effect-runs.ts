import type { BatchResult, DispatchedInput, EffectRun, RunContext } from "./definition.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { RefusedEffect } from "./intents.ts";

/** One run of an effect. */
export class Run<State, Input, Effect> implements RunContext<State, Input> {
  readonly key: string;
  readonly effect: Effect;
  /** `over`: the run has ended, or the state no longer wants it; its later inputs are dropped. */
  phase: "running" | "over" = "running";
  /** Whether an accepted batch of this run retired it, so that its end counts as a completion, not as a cancellation. */
  isAnswered = false;
  /** Whether `settled` does not wait for it. */
  isBackground = false;
  #work: Pick<EffectRun<unknown, unknown>, "cancel"> | undefined;
  #abortReason: DOMException | undefined;
  #controller: AbortController | undefined;

  readonly #dispatcher: Dispatcher<State, Input, Effect>;

  constructor(key: string, effect: Effect, dispatcher: Dispatcher<State, Input, Effect>) {
    this.key = key;
    this.effect = effect;
    this.#dispatcher = dispatcher;
  }

  post(
    inputs: readonly DispatchedInput<State, Input>[],
    settled?: (result: BatchResult<State>) => void,
  ): void {
    this.#dispatcher.post(this, inputs, settled);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
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
  readonly dispatcher: Dispatcher<State, Input, Effect>;
  readonly emit: (notice: RunNotice<Effect>) => void;
  readonly isBackground: (effect: Effect, state: State) => boolean;
  /** Called after each run that ended. */
  readonly onEnd: () => void;
}

const noLongerWanted: DOMException = new DOMException("The state no longer wants this effect.", "AbortError");
/** The reason of aborts by `stop`. The state still wants these effects; a machine that continues from it starts them again. */
const stopped: DOMException = new DOMException("The machine was stopped.", "ShutdownError");

/** The runs of a machine. Ensures I1 to I3: the running keys are the wanted keys without the finished ones. */
export class EffectRuns<State, Input, Effect> {
  readonly #options: RunOptions<State, Input, Effect>;
  readonly #running = new Map<string, Run<State, Input, Effect>>();
  readonly #finished = new Set<string>();
  #foreground = 0;
  #isStopped = false;

  constructor(options: RunOptions<State, Input, Effect>) {
    this.#options = options;
  }

  /** The number of runs that are not in the background. */
  get foreground(): number {
    return this.#foreground;
  }

  /** Whether the effect of a key is running or has finished, so that it does not start now. */
  isStarted(key: string): boolean {
    return this.#running.has(key) || this.#finished.has(key);
  }

  /** Ends the runs whose keys `wanted` does not contain. A finished key that is no longer wanted may start again later. */
  retire(wanted: Readonly<Record<string, Effect>>): void {
    for (const key of this.#finished) if (!Object.hasOwn(wanted, key)) this.#finished.delete(key);
    for (const run of this.#running.values()) {
      if (Object.hasOwn(wanted, run.key)) {
        run.isAnswered = false;
        continue;
      }
      if (run.isAnswered) this.#end(run, { type: "effect-completed", key: run.key, effect: run.effect });
      else this.#cancel(run, noLongerWanted);
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
      this.#finished.add(key);
      if (failure !== undefined)
        this.#options.emit({ type: "effect-failed", key, effect, error: failure.error });
    }
  }

  /** Ends every run; none starts anymore. */
  stop(): void {
    this.#isStopped = true;
    for (const run of this.#running.values()) this.#cancel(run, stopped);
  }

  #start(key: string, effect: Effect, state: State): void {
    const { emit, runEffect, isBackground, dispatcher } = this.#options;
    const run = new Run(key, effect, dispatcher);
    this.#running.set(key, run);
    this.#foreground += 1;
    emit({ type: "effect-started", key, effect });
    // A listener that stops the machine ends the run before it begins, and so may `runEffect`.
    if (this.#isStopped) return;
    try {
      if (isBackground(effect, state)) {
        run.isBackground = true;
        this.#foreground -= 1;
      }
      const work = runEffect(effect, state, key);
      if (this.#isStopped) return;
      run.linkTo(work);
      work.start(dispatcher.dispatchOf(run), run).then(
        () => this.#finish(run, { type: "effect-completed", key, effect }),
        (error: unknown) => this.#finish(run, { type: "effect-failed", key, effect, error }),
      );
    } catch (error) {
      this.#finish(run, { type: "effect-failed", key, effect, error });
    }
  }

  /** Handles a run that ended by itself, by completing or failing. */
  #finish(run: Run<State, Input, Effect>, notice: RunNotice<Effect>): void {
    if (run.phase === "over") return;
    this.#finished.add(run.key);
    this.#end(run, notice);
  }

  #cancel(run: Run<State, Input, Effect>, reason: DOMException): void {
    const { key, effect } = run;
    this.#end(run, { type: "effect-canceled", key, effect });
    try {
      run.abort(reason);
    } catch (error) {
      this.#options.emit({ type: "effect-failed", key, effect, error });
    }
  }

  #end(run: Run<State, Input, Effect>, notice: RunNotice<Effect>): void {
    run.phase = "over";
    this.#running.delete(run.key);
    if (!run.isBackground) this.#foreground -= 1;
    this.#options.emit(notice);
    this.#options.onEnd();
  }
}
