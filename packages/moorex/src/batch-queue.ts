import type { Batch } from "./batch.ts";

/** A queue of batches. All that wait are taken together, as one group. */
export class BatchQueue<State, Input, Effect> {
  #waiting: Batch<State, Input, Effect>[] = [];
  /** Batches of effects whose commit failed. They are taken again, before the next batch. */
  #deferred: Batch<State, Input, Effect>[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether no batch waits, also none that a failed commit has left. */
  get isSettled(): boolean {
    return this.isEmpty && this.#deferred.length === 0;
  }

  add(batch: Batch<State, Input, Effect>): void {
    this.#waiting.push(batch);
  }

  defer(batch: Batch<State, Input, Effect>): void {
    this.#deferred.push(batch);
  }

  /** Removes and returns the deferred batches. */
  takeDeferred(): readonly Batch<State, Input, Effect>[] {
    const deferred = this.#deferred;
    this.#deferred = [];
    return deferred;
  }

  /** Removes and returns the batches to process next. */
  take(): readonly Batch<State, Input, Effect>[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return this.#deferred.length === 0 ? waiting : [...this.takeDeferred(), ...waiting];
  }
}
