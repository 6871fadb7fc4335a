import type { Clock } from "@moora/agent-core-effects";
import { isPromise } from "@moora/agent-core-effects/internal";
import type { MaybePromise } from "@moora/event-log";
import type { CommitResult } from "@moora/moorex";
import type { InputLedger, PendingStep } from "../session/machine.ts";
import type { PendingInput } from "../session/pending-input.ts";
import { retries, type Retries } from "./retries.ts";

export interface RetriedLedgerOptions {
  readonly ledger: InputLedger;
  readonly clock: Clock;
  /** Commits the waiting inputs again. */
  readonly again: () => Promise<void>;
  /** Called when no commit has succeeded for `patienceMs`. */
  readonly onLongFailure: () => void;
}

/** A ledger that retries failed commits, with increasing delays, until one succeeds. */
export class RetriedLedger implements InputLedger {
  readonly #ledger: InputLedger;
  readonly #retry: Retries;
  /** The number of commits that failed and are tried again. */
  #failures = 0;

  constructor({ ledger, clock, again, onLongFailure }: RetriedLedgerOptions) {
    this.#ledger = ledger;
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

  check(pending: PendingInput): void {
    this.#ledger.check(pending);
  }

  commit(steps: readonly PendingStep[]): MaybePromise<CommitResult<PendingInput>> {
    const committed = this.#ledger.commit(steps);
    if (isPromise(committed)) committed.then(this.#retry.succeeded, () => undefined);
    else this.#retry.succeeded();
    return committed;
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
