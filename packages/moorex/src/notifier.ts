import type { ErrorSource, MoorexNotice } from "./definition.ts";

/**
 * Delivers notices: to `onNotice` first, then to the subscribers, in the order in which they subscribed. Keeps I6 for
 * listeners: one that throws does not keep the others from hearing.
 */
export class Notifier<State, Input, Effect, Detail, Position> {
  readonly #onNotice: Listener<MoorexNotice<State, Input, Effect, Detail, Position>> | undefined;
  readonly #listeners = new Set<Listener<MoorexNotice<State, Input, Effect, Detail, Position>>>();

  constructor(onNotice: Listener<MoorexNotice<State, Input, Effect, Detail, Position>> | undefined) {
    this.#onNotice = onNotice;
  }

  /** Whether a notice would reach a listener; where it would not, making one is wasted. */
  get hasListeners(): boolean {
    return this.#onNotice !== undefined || this.#listeners.size > 0;
  }

  emit(notice: MoorexNotice<State, Input, Effect, Detail, Position>): void {
    if (this.#onNotice !== undefined) this.#deliver(this.#onNotice, notice);
    for (const listener of this.#listeners) this.#deliver(listener, notice);
  }

  /** Emits an error; `key` names the effect that it concerns. */
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
      // An error that is thrown while another one is heard could repeat without end.
      if (notice.type !== "error-caught") this.error("subscriber", error);
    }
  }
}

type Listener<Notice> = (notice: Notice) => void;
