import type { Clock } from "@moora/agent";
import { signal } from "@preact/signals";

/** How long the controls of questions take nothing after what they ask about has changed: the time of a double click, and of a glance. */
export const guardMs = 700;

/** Guards questions that have come, or have moved to another place, against a press that was meant for what was there before. */
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

/** That of the questions of the page. */
export const questionGuard = new PressGuard({
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
});
