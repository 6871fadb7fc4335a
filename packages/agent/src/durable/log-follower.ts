import type { Clock } from "@moora/agent-core-effects";
import type { LogHandle } from "./log-handle.ts";
import { retries, type Retries } from "./retries.ts";

export interface FollowerOptions {
  readonly handle: LogHandle;
  readonly clock: Clock;
  /** Applies the new records of the log. Resolves with false if that failed and must be retried. */
  readonly pull: () => Promise<boolean>;
}

interface Pulling {
  readonly type: "pulling";
  readonly done: Promise<void>;
  /** Whether something may have been appended since the pull began. */
  isRequestedAgain: boolean;
}

/** Pulls the new records of a log, one pull at a time: when the log reports a change, on request, and after a failure. */
export class LogFollower {
  readonly #pull: () => Promise<boolean>;
  readonly #retry: Retries;
  readonly #stopWatching: () => void;
  #phase: { readonly type: "idle" } | Pulling = { type: "idle" };

  constructor({ handle, clock, pull }: FollowerOptions) {
    this.#pull = pull;
    this.#retry = retries({ clock, again: () => void this.refresh(), keepsAlive: false });
    this.#stopWatching = handle.watch(() => void this.refresh());
  }

  /** Resolves when all records that the log contains now are applied. */
  refresh(): Promise<void> {
    if (this.#phase.type === "pulling") {
      this.#phase.isRequestedAgain = true;
      return this.#phase.done;
    }
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    const phase: Pulling = { type: "pulling", done, isRequestedAgain: false };
    this.#phase = phase;
    this.#pullAll(phase).then(resolve, reject);
    return done;
  }

  /** Resolves when no pull is running. */
  async idle(): Promise<void> {
    if (this.#phase.type === "pulling") await this.#phase.done;
  }

  stop(): void {
    this.#stopWatching();
    this.#retry.stop();
  }

  async #pullAll(phase: Pulling): Promise<void> {
    do {
      phase.isRequestedAgain = false;
      if (await this.#pull()) this.#retry.succeeded();
      else this.#retry.failed();
    } while (phase.isRequestedAgain);
    // Set now, not when `done` settles, so that a request in between starts another pull.
    this.#phase = { type: "idle" };
  }
}
