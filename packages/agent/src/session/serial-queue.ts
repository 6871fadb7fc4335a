import { isPromise } from "@moora/agent-core-effects/internal";

type Work = () => void | Promise<void>;

/**
 * Runs one piece of work after the other, in the order of the calls: work that is added while another piece runs, also by
 * that piece itself, waits for its end. `onError` receives what a piece throws or rejects with; the next one runs all the same.
 */
export class SerialQueue {
  readonly #onError: (error: unknown) => void;
  readonly #waiting: Work[] = [];
  #isRunning = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Whether work that is added now runs at once. */
  get isIdle(): boolean {
    return !this.#isRunning;
  }

  add(work: Work): void {
    this.#waiting.push(work);
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    this.#isRunning = true;
    for (let work = this.#waiting.shift(); work !== undefined; work = this.#waiting.shift()) {
      const running = started(work, this.#onError);
      if (running === undefined) continue;
      void running.then(() => this.#run());
      return;
    }
    this.#isRunning = false;
  }
}

/** Starts a piece of work. Returns a promise that never rejects if it takes time. */
function started(work: Work, onError: (error: unknown) => void): Promise<void> | undefined {
  try {
    const result = work();
    return isPromise(result) ? result.then(undefined, onError) : undefined;
  } catch (error) {
    onError(error);
    return undefined;
  }
}
