import type { CliHost } from "../cli-host.ts";

/**
 * Ctrl-C for as long as a command runs, without a gap: the work under way receives it, and one that comes between two
 * pieces of work is for the next one.
 */
export class Interrupts implements Disposable {
  readonly #stopListening: () => void;
  #listener: (() => void) | undefined;
  #isMissed = false;

  constructor(host: Pick<CliHost, "onInterrupt">) {
    this.#stopListening = host.onInterrupt(() => this.interrupt());
  }

  /** Does some work; `listener` is called for Ctrl-C until it is done. */
  async during<Result>(listener: () => void, work: () => Promise<Result>): Promise<Result> {
    this.#listener = listener;
    try {
      const result = work();
      if (this.#isMissed) this.interrupt();
      return await result;
    } finally {
      this.#listener = undefined;
    }
  }

  /** Ctrl-C, from wherever it was pressed. */
  interrupt(): void {
    this.#isMissed = this.#listener === undefined;
    this.#listener?.();
  }

  [Symbol.dispose](): void {
    this.#stopListening();
  }
}
