import type { Clock } from "@moora/agent-core-effects";
import { setLongTimeout } from "@moora/agent-core-effects/internal";

export interface CloseOptions {
  readonly clock: Clock;
  /** Called once, by the first `close`: from then on no effect may start. */
  readonly onBegin: () => void;
  /** Resolves when no work is running. */
  readonly drained: () => Promise<void>;
  /** Ends the work that is still running. */
  readonly shutDown: () => Promise<void>;
}

/** Closes a session once: waits for running work up to a grace period, then ends it. A second call ends the wait. */
export class GracefulClose {
  readonly #options: CloseOptions;
  #closing: { readonly done: Promise<void>; readonly hurry: () => void } | undefined;

  constructor(options: CloseOptions) {
    this.#options = options;
  }

  /** Waits for up to `graceMs`; 0 does not wait, and Infinity waits without a limit. Resolves when the session is closed. */
  close(graceMs: number): Promise<void> {
    this.#closing?.hurry();
    this.#closing ??= this.#begin(graceMs);
    return this.#closing.done;
  }

  #begin(graceMs: number): { readonly done: Promise<void>; readonly hurry: () => void } {
    const hurry = Promise.withResolvers<void>();
    return { hurry: hurry.resolve, done: this.#run(graceMs, hurry.promise) };
  }

  async #run(graceMs: number, hurry: Promise<void>): Promise<void> {
    const { onBegin, shutDown } = this.#options;
    onBegin();
    if (graceMs > 0) await this.#wait(graceMs, hurry);
    await shutDown();
  }

  async #wait(graceMs: number, hurry: Promise<void>): Promise<void> {
    const { clock, drained } = this.#options;
    const late = Promise.withResolvers<void>();
    const cancelTimer = setLongTimeout(clock, graceMs, late.resolve);
    await Promise.race([drained(), late.promise, hurry]);
    cancelTimer();
  }
}
