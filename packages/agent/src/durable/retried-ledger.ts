import type { Clock } from "@moora/agent-core-effects";
import { isPromise } from "@moora/agent-core-effects/internal";
import type { ChainHead, MaybePromise } from "@moora/event-log";
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

  constructor({ ledger, clock, again, onLongFailure }: RetriedLedgerOptions) {
    this.#ledger = ledger;
    this.#retry = retries({
      clock,
      again: () => void again().then(this.#retry.succeeded, () => undefined),
      keepsAlive: true,
      onLongFailure,
    });
  }

  check(pending: PendingInput): void {
    this.#ledger.check(pending);
  }

  commit(steps: readonly PendingStep[]): MaybePromise<CommitResult<PendingInput, ChainHead>> {
    const committed = this.#ledger.commit(steps);
    if (isPromise(committed)) committed.then(this.#retry.succeeded, () => undefined);
    else this.#retry.succeeded();
    return committed;
  }

  /** Schedules a retry after a commit failed whose inputs were kept. */
  failed(): void {
    this.#retry.failed();
  }

  /** Cancels all retries. */
  stop(): void {
    this.#retry.stop();
  }
}
