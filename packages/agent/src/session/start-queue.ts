import { nextTurn } from "@moora/event-log/store";

/** The starts that may follow each other in microtasks. Then the event loop has a turn, for timers and for I/O. */
const mostMicrotasks = 100;

/**
 * Starts work in the next microtask, all of it in the same one. A model and tools that answer at once would keep the process
 * in microtasks until the end of the loop: a cancel of a timer or the renewal of a lease would come too late.
 */
export class StartQueue {
  #waiting: (() => void)[] = [];
  #microtasks = 0;

  add(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length > 1) return;
    this.#microtasks += 1;
    if (this.#microtasks <= mostMicrotasks) return void Promise.resolve().then(this.#run);
    this.#microtasks = 0;
    nextTurn(this.#run);
  }

  readonly #run = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
  };
}
