import { systemClock, type Clock } from "@moora/agent";
import { signal } from "@preact/signals";

/** How long the controls of questions ignore presses after the questions have changed, in milliseconds: a double click and a glance. */
export const guardMs = 700;

/** Ignores presses for a moment after questions have changed, so that a press that was meant for an earlier question does not answer a new one. */
export class PressGuard {
  readonly #clock: Pick<Clock, "after">;
  #cancel: () => void = () => undefined;
  /** Whether a press is not taken now. */
  readonly isUp = signal(false);

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** The questions have changed. */
  raise(): void {
    this.#cancel();
    this.isUp.value = true;
    this.#cancel = this.#clock.after(guardMs, () => void (this.isUp.value = false));
  }
}

/** The guard of all questions on the page. */
export const questionGuard = new PressGuard(systemClock);
