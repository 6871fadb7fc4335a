import { Batch, rejected } from "./batch.ts";
import type { BatchResult, Dispatch, DispatchedInput, DispatchResult } from "./definition.ts";
import type { Run } from "./effect-runs.ts";

export interface DispatchHost<State, Input, Effect> {
  readonly isTransitioning: () => boolean;
  readonly isStopped: () => boolean;
  readonly state: () => State;
  readonly enqueue: (batch: Batch<State, Input, Effect>) => void;
  /** Called with the error of a dispatch after `stop`. */
  readonly refused: (error: Error) => void;
}

/** Queues the batches of runs and of callers outside. Ensures I3 for a run that is over. */
export class Dispatcher<State, Input, Effect> {
  readonly #host: DispatchHost<State, Input, Effect>;

  constructor(host: DispatchHost<State, Input, Effect>) {
    this.#host = host;
  }

  /** The dispatch of a run, or of callers outside. */
  dispatchOf(run: Run<State, Input, Effect> | undefined): Dispatch<State, Input> {
    return (...inputs) => {
      this.#checkReentry();
      if (run?.phase === "over") return Promise.resolve(this.#notApplied());
      if (this.#host.isStopped()) return this.#refuse();
      const batch = new Batch<State, Input, Effect>(inputs, run);
      this.#host.enqueue(batch);
      return batch.promise();
    };
  }

  /** Dispatches a batch of a run, and calls back with its result. */
  post(
    run: Run<State, Input, Effect>,
    inputs: readonly DispatchedInput<State, Input>[],
    settled?: (result: BatchResult<State>) => void,
  ): void {
    this.#checkReentry();
    if (run.phase === "over") settled?.(this.#notApplied());
    else this.#host.enqueue(new Batch<State, Input, Effect>(inputs, run, settled));
  }

  #checkReentry(): void {
    if (this.#host.isTransitioning())
      throw new Error("A transition must not dispatch. Return the next state instead.");
  }

  #notApplied(): DispatchResult<State> {
    return { applied: 0, state: this.#host.state() };
  }

  #refuse(): Promise<never> {
    const error = new Error("This machine was stopped and accepts no more inputs. Create another one.");
    this.#host.refused(error);
    return rejected(error);
  }
}
