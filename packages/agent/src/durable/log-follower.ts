import type { Clock } from "@moora/agent-core-effects";
import type { LogHandle } from "./log-handle.ts";
import { retries, type Retries } from "./retries.ts";

export interface FollowerOptions {
  readonly handle: LogHandle;
  readonly clock: Clock;
  /** Applies the new records of the log. Resolves with false if that failed and must be retried. */
  readonly pull: () => Promise<boolean>;
}

/** Pulls the new records of a log, one pull at a time: when the log reports a change, on request, and after a failure. */
export class LogFollower {
  readonly #pull: () => Promise<boolean>;
  readonly #retry: Retries;
  readonly #stopWatching: () => void;
  #pulling: Promise<void> | undefined;
  /** Whether something may have been appended since the last pull began. */
  #isRequested = false;

  constructor({ handle, clock, pull }: FollowerOptions) {
    this.#pull = pull;
    this.#retry = retries({ clock, again: () => void this.refresh(), keepsAlive: false });
    this.#stopWatching = handle.watch(() => void this.refresh());
  }

  /** Resolves when all records that the log contains now are applied. */
  refresh(): Promise<void> {
    this.#isRequested = true;
    return (this.#pulling ??= this.#pullAll());
  }

  /** Resolves when no pull is running. */
  async idle(): Promise<void> {
    await this.#pulling;
  }

  stop(): void {
    this.#stopWatching();
    this.#retry.stop();
  }

  async #pullAll(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      if (await this.#pull()) this.#retry.succeeded();
      else this.#retry.failed();
    }
    // Now, not when the promise settles, so that a request in between starts another pull.
    this.#pulling = undefined;
  }
}
