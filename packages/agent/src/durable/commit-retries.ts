import type { Clock } from "@moora/agent-core-effects";
import { isPromise } from "@moora/agent-core-effects/internal";
import type { InputLedger } from "../session/machine.ts";
import { retries, type Retries } from "./retries.ts";

export interface CommitRetriesOptions {
  readonly clock: Clock;
  /** Commits the waiting inputs again. */
  readonly again: () => Promise<void>;
  /** Called when no commit has succeeded for `patienceMs`. */
  readonly onLongFailure: () => void;
}

/** Retries failed commits, with increasing delays, until one succeeds. */
export class CommitRetries {
  readonly #retry: Retries;
  /** The number of commits that failed and are tried again. */
  #failures = 0;

  constructor({ clock, again, onLongFailure }: CommitRetriesOptions) {
    this.#retry = retries({
      clock,
      again: () => {
        const failures = this.#failures;
        // A later commit may have failed before this one is reported: its retry stays scheduled.
        const succeeded = (): void => {
          if (this.#failures === failures) this.#retry.succeeded();
        };
        again().then(succeeded, () => undefined);
      },
      keepsAlive: true,
      onLongFailure,
    });
  }

  /** Ends the retries if a commit succeeds, and returns the commit. */
  committed(commit: ReturnType<InputLedger["commit"]>): typeof commit {
    if (isPromise(commit)) commit.then(this.#retry.succeeded, () => undefined);
    else this.#retry.succeeded();
    return commit;
  }

  /** Schedules a retry after a commit failed whose inputs were kept. */
  failed(): void {
    this.#failures += 1;
    this.#retry.failed();
  }

  /** Cancels all retries. */
  stop(): void {
    this.#retry.stop();
  }
}
