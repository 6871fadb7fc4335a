import type { ErrorSource, MoorexNotice } from "./definition.ts";

/**
 * Delivers notices to `onNotice` first, then to the subscribers in the order in which they subscribed. Ensures I6 for
 * listeners: after one throws, the others still receive the notice.
 */
export class Notifier<State, Input, Effect, Detail, Position> {
  readonly #onNotice: Listener<MoorexNotice<State, Input, Effect, Detail, Position>> | undefined;
  readonly #listeners = new Set<Listener<MoorexNotice<State, Input, Effect, Detail, Position>>>();

  constructor(onNotice: Listener<MoorexNotice<State, Input, Effect, Detail, Position>> | undefined) {
    this.#onNotice = onNotice;
  }

  /** Whether there are listeners, so that a notice has to be created. */
  get hasListeners(): boolean {
    return this.#onNotice !== undefined || this.#listeners.size > 0;
  }

  emit(notice: MoorexNotice<State, Input, Effect, Detail, Position>): void {
    if (this.#onNotice !== undefined) this.#deliver(this.#onNotice, notice);
    for (const listener of this.#listeners) this.#deliver(listener, notice);
  }

  /** Emits an error notice; `key` is that of the effect concerned. */
  error(source: ErrorSource, error: unknown, key?: string): void {
    this.emit({ type: "error-caught", source, error, ...(key === undefined ? {} : { key }) });
  }

  subscribe(listener: Listener<MoorexNotice<State, Input, Effect, Detail, Position>>): () => void {
    const own: typeof listener = (notice) => listener(notice);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  #deliver(
    listener: Listener<MoorexNotice<State, Input, Effect, Detail, Position>>,
    notice: MoorexNotice<State, Input, Effect, Detail, Position>,
  ): void {
    try {
      listener(notice);
    } catch (error) {
      // Errors that listeners throw for error notices are not reported: that could repeat endlessly.
      if (notice.type !== "error-caught") this.error("subscriber", error);
    }
  }
}

type Listener<Notice> = (notice: Notice) => void;
