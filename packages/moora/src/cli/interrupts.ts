import type { CliHost } from "./cli-host.ts";

/**
 * Ctrl-C for as long as a command runs, without a gap: whoever is at work hears it, and one that nobody was there to
 * hear goes to the next.
 */
export class Interrupts implements Disposable {
  private readonly stopListening: () => void;
  private listener: (() => void) | undefined;
  private isMissed = false;

  constructor(host: Pick<CliHost, "onInterrupt">) {
    this.stopListening = host.onInterrupt(() => this.happened());
  }

  /** Does some work; `listener` hears Ctrl-C until it is done. */
  async during<Result>(listener: () => void, work: () => Promise<Result>): Promise<Result> {
    this.listener = listener;
    try {
      const result = work();
      if (this.isMissed) this.happened();
      return await result;
    } finally {
      this.listener = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.stopListening();
  }

  private happened(): void {
    this.isMissed = this.listener === undefined;
    this.listener?.();
  }
}
