import type { Batch } from "./batch.ts";

/** The batches that wait to be processed, and the groups in which they are taken. */
export class BatchQueue<State, Input, Effect> {
  /** Whether everything that waits is taken together, since one commit can store it; otherwise one batch at a time. */
  readonly #isGrouped: boolean;
  #waiting: Batch<State, Input, Effect>[] = [];
  /** How many of those that wait have been taken. */
  #taken = 0;
  /** Batches of effects whose commit failed: taken again, in front of the next batch. */
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
