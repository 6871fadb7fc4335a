import type { CliHost } from "../cli-host.ts";

/**
 * Receives Ctrl-C while a command runs: the work in progress receives it. One that comes between two pieces of work is
 * delivered to the next one.
 */
export class Interrupts implements Disposable {
  readonly #stopListening: () => void;
  #listener: (() => void) | undefined;
  #isMissed = false;

  constructor(host: Pick<CliHost, "onInterrupt">) {
    this.#stopListening = host.onInterrupt(() => this.interrupt());
  }

  /** Runs `work`; `listener` is called for Ctrl-C until it is done. */
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

  /** Delivers a Ctrl-C. */
  interrupt(): void {
    this.#isMissed = this.#listener === undefined;
    this.#listener?.();
  }

  [Symbol.dispose](): void {
    this.#stopListening();
  }
}
