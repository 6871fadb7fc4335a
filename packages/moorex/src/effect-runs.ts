import type { Dispatch, EffectRun } from "./definition.ts";

/** One run of an effect. */
export interface Run<Effect> {
  readonly key: string;
  readonly effect: Effect;
  readonly controller: AbortController;
  /**
   * `answered`: an accepted input of this run may have retired it, so that its end counts as a completion, not as a
   * cancellation. `over`: the run has ended, or the state no longer wants it; its later inputs are dropped.
   */
  phase: "running" | "answered" | "over";
  cancel: (() => void) | undefined;
  /** Whether `settled` does not wait for it. */
  isBackground: boolean;
}

/** The notices about a run. */
export type RunNotice<Effect> =
  | { readonly type: "effect-started"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-completed"; readonly key: string; readonly effect: Effect }
  | { readonly type: "effect-failed"; readonly key: string; readonly effect: Effect; readonly error: unknown }
  | { readonly type: "effect-canceled"; readonly key: string; readonly effect: Effect };

interface RunOptions<State, Input, Effect> {
  readonly runEffect: (effect: Effect, state: State, key: string) => EffectRun<State, Input>;
  readonly dispatchOf: (run: Run<Effect>) => Dispatch<State, Input>;
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
  readonly #running = new Map<string, Run<Effect>>();
  readonly #finished = new Set<string>();
  #isStopped = false;

  constructor(options: RunOptions<State, Input, Effect>) {
    this.#options = options;
  }

  /** Whether nothing runs but what is in the background. */
  get isSettled(): boolean {
    for (const run of this.#running.values()) if (!run.isBackground) return false;
    return true;
  }

  /** Ends the runs whose keys `wanted` does not contain. A finished key that is no longer wanted may start again later. */
  retire(wanted: Readonly<Record<string, Effect>>): void {
    for (const key of this.#finished) if (!Object.hasOwn(wanted, key)) this.#finished.delete(key);
    for (const run of this.#running.values()) {
      const wasAnswered = run.phase === "answered";
      run.phase = "running";
      if (Object.hasOwn(wanted, run.key)) continue;
      if (wasAnswered) this.#end(run, { type: "effect-completed", key: run.key, effect: run.effect });
      else this.#cancel(run, noLongerWanted);
    }
  }

  /** Starts the wanted effects whose keys are neither running nor finished. */
  start(wanted: Readonly<Record<string, Effect>>, state: State): void {
    for (const key of Object.keys(wanted)) {
      if (this.#isStopped) return;
      const effect = wanted[key];
      if (effect === undefined || this.#running.has(key) || this.#finished.has(key)) continue;
      this.#start(key, effect, state);
    }
  }

  /** Ends every run; none starts anymore. */
  stop(): void {
    this.#isStopped = true;
    for (const run of this.#running.values()) this.#cancel(run, stopped);
  }

  #start(key: string, effect: Effect, state: State): void {
    const { emit, runEffect, isBackground, dispatchOf } = this.#options;
    const controller = new AbortController();
    const run: Run<Effect> = {
      key,
      effect,
      controller,
      phase: "running",
      cancel: undefined,
      isBackground: false,
    };
    this.#running.set(key, run);
    emit({ type: "effect-started", key, effect });
    // A listener that stops the machine ends the run before it begins, and so may `runEffect`.
    if (this.#isStopped) return;
    try {
      run.isBackground = isBackground(effect, state);
      const work = runEffect(effect, state, key);
      if (this.#isStopped) return;
      run.cancel = work.cancel?.bind(work);
      work.start(dispatchOf(run), controller.signal).then(
        () => this.#finish(run, { type: "effect-completed", key, effect }),
        (error: unknown) => this.#finish(run, { type: "effect-failed", key, effect, error }),
      );
    } catch (error) {
      this.#finish(run, { type: "effect-failed", key, effect, error });
    }
  }

  /** Handles a run that ended by itself, by completing or failing. */
  #finish(run: Run<Effect>, notice: RunNotice<Effect>): void {
    if (run.phase === "over") return;
    this.#finished.add(run.key);
    this.#end(run, notice);
  }

  #cancel(run: Run<Effect>, reason: DOMException): void {
    const { key, effect } = run;
    this.#end(run, { type: "effect-canceled", key, effect });
    run.controller.abort(reason);
    try {
      run.cancel?.();
    } catch (error) {
      this.#options.emit({ type: "effect-failed", key, effect, error });
    }
  }

  #end(run: Run<Effect>, notice: RunNotice<Effect>): void {
    run.phase = "over";
    this.#running.delete(run.key);
    this.#options.emit(notice);
    this.#options.onEnd();
  }
}
