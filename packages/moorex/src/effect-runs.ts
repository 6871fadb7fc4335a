import type { Dispatch, EffectRun, MoorexNotice } from "./definition.ts";

/** One run of one key. `live` until it ended or the state stopped wanting it; only a live run may touch the state. */
export interface Run<Effect> {
  readonly key: string;
  readonly effect: Effect;
  readonly controller: AbortController;
  live: boolean;
  /** Whether an accepted input of this run may have retired it: then its end is a completion, not a cancellation. */
  answered: boolean;
  cancel: (() => void) | undefined;
}

export interface EffectRuns<State, Effect> {
  readonly size: number;
  /** Ends the runs that `wanted` does not name; a key that finished and is wanted no more may start again later. */
  retire(wanted: Readonly<Record<string, Effect>>): void;
  /** Starts what `wanted` names, less what runs and what has finished. */
  start(wanted: Readonly<Record<string, Effect>>, state: State): void;
  stop(): void;
}

interface Options<State, Input, Effect> {
  readonly runEffect: (effect: Effect, state: State, key: string) => EffectRun<State, Input>;
  readonly dispatchOf: (run: Run<Effect>) => Dispatch<State, Input>;
  readonly emit: (notice: MoorexNotice<State, Input, Effect>) => void;
  readonly onEnd: () => void;
}

const noLongerWanted: DOMException = new DOMException("The state no longer wants this effect.", "AbortError");
/** The state still wants what ran: the next machine that continues from it starts it again. */
const stopped: DOMException = new DOMException("The machine was stopped.", "ShutdownError");

/** Keeps I1 to I3: the running keys are the wanted keys less the finished ones. */
export function effectRuns<State, Input, Effect>({
  runEffect,
  dispatchOf,
  emit,
  onEnd,
}: Options<State, Input, Effect>): EffectRuns<State, Effect> {
  const running = new Map<string, Run<Effect>>();
  const finished = new Set<string>();

  const end = (run: Run<Effect>, notice: MoorexNotice<State, Input, Effect>): void => {
    run.live = false;
    running.delete(run.key);
    emit(notice);
    onEnd();
  };

  const completed = (run: Run<Effect>): void => {
    if (!run.live) return;
    finished.add(run.key);
    end(run, { type: "effect-completed", key: run.key, effect: run.effect });
  };

  const failed = (run: Run<Effect>, error: unknown): void => {
    if (!run.live) return;
    finished.add(run.key);
    end(run, { type: "effect-failed", key: run.key, effect: run.effect, error });
  };

  const canceled = (run: Run<Effect>, reason: DOMException): void => {
    end(run, { type: "effect-canceled", key: run.key, effect: run.effect });
    run.controller.abort(reason);
    try {
      run.cancel?.();
    } catch (error) {
      emit({ type: "effect-failed", key: run.key, effect: run.effect, error });
    }
  };

  const begin = (key: string, effect: Effect, state: State): void => {
    const controller = new AbortController();
    const run: Run<Effect> = { key, effect, controller, live: true, answered: false, cancel: undefined };
    running.set(key, run);
    emit({ type: "effect-started", key, effect });
    try {
      const work = runEffect(effect, state, key);
      run.cancel = work.cancel?.bind(work);
      work.start(dispatchOf(run), controller.signal).then(
        () => completed(run),
        (error: unknown) => failed(run, error),
      );
    } catch (error) {
      failed(run, error);
    }
  };

  return {
    get size() {
      return running.size;
    },
    retire(wanted) {
      for (const key of finished) if (!Object.hasOwn(wanted, key)) finished.delete(key);
      for (const run of running.values()) {
        const { answered } = run;
        run.answered = false;
        if (Object.hasOwn(wanted, run.key)) continue;
        if (answered) end(run, { type: "effect-completed", key: run.key, effect: run.effect });
        else canceled(run, noLongerWanted);
      }
    },
    start(wanted, state) {
      for (const key of Object.keys(wanted)) {
        const effect = wanted[key];
        if (effect === undefined || running.has(key) || finished.has(key)) continue;
        begin(key, effect, state);
      }
    },
    stop() {
      for (const run of running.values()) canceled(run, stopped);
    },
  };
}
