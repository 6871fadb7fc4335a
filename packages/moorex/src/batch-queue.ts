import type { Batch } from "./batch.ts";

/** A queue of batches. They are taken in groups: all together if `isGrouped`, else one at a time. */
export class BatchQueue<State, Input, Effect> {
  /** Whether `take` returns all waiting batches, because one commit can store them; if not, it returns one. */
  readonly #isGrouped: boolean;
  #waiting: Batch<State, Input, Effect>[] = [];
  /** The number of entries of `#waiting` that have been taken. */
  #taken = 0;
  /** Batches of effects whose commit failed. They are taken again, before the next batch. */
  #deferred: Batch<State, Input, Effect>[] = [];

  constructor(isGrouped: boolean) {
    this.#isGrouped = isGrouped;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
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

  /** Removes and returns the next batches to process. */
  take(): readonly Batch<State, Input, Effect>[] {
    const from = this.#taken;
    if (!this.#isGrouped && from + 1 < this.#waiting.length) return this.#waiting.slice(from, ++this.#taken);
    const group = [...this.takeDeferred(), ...this.#waiting.slice(from)];
    this.#waiting = [];
    this.#taken = 0;
    return group;
  }
}
