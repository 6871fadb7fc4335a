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
      try {
        const result = work();
        if (isPromise(result)) return void result.then(undefined, this.#onError).then(() => this.#run());
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#isRunning = false;
  }
}
