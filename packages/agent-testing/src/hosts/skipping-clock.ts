import { systemClock, type Clock } from "@moora/agent";
import type { HostClock } from "./host.ts";

interface Timer {
  readonly due: number;
  readonly fire: () => void;
}

/** The clock of the system, which can skip ahead: what becomes due by that fires. */
export class SkippingClock implements Clock, HostClock {
  #skipped = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return systemClock.now() + this.#skipped;
  }

  after(ms: number, callback: () => void, options?: Parameters<Clock["after"]>[2]): () => void {
    const cancel = systemClock.after(ms, () => timer.fire(), options);
    const timer: Timer = {
      due: this.now() + ms,
      fire: () => {
        if (!this.#timers.delete(timer)) return;
        cancel();
        callback();
      },
    };
    this.#timers.add(timer);
    return () => {
      cancel();
      this.#timers.delete(timer);
    };
  }

  async pass(ms: number): Promise<void> {
    this.#skipped += ms;
    const due = [...this.#timers]
      .filter((timer) => timer.due <= this.now())
      .toSorted((a, b) => a.due - b.due);
    for (const { fire } of due) fire();
  }
}
