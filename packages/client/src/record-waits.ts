import type { Clock, Receipt } from "@moora/agent";
import type { ClientError } from "./client-error.ts";

/** What waits need of the session. */
export interface WaitsHost {
  readonly seq: () => number;
  /** The error of calls after the end of the session; undefined before. */
  readonly closed: () => ClientError | undefined;
  readonly clock: Clock;
  /** The stream does not show a record that the server has. */
  readonly onBehind: () => void;
}

/** How long a record that the server has may be missing in the stream, in milliseconds. */
const maxLagMs = 5_000;

/** The calls that wait for later records of the session. */
export class RecordWaits {
  readonly #host: WaitsHost;
  readonly #checks = new Set<() => void>();

  constructor(host: WaitsHost) {
    this.#host = host;
  }

  /** Continues the calls whose condition holds now; all of them at the end of the session. */
  check(): void {
    for (const check of this.#checks) check();
  }

  /** Waits until the session contains the record of a receipt. */
  async caughtUp(receipt: Receipt): Promise<Receipt> {
    if (receipt.status === "accepted") await this.until(() => this.#host.seq() >= receipt.seq);
    return receipt;
  }

  /** Waits until a condition holds that later records may bring about, or the session has ended. */
  async until(isReached: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = (): void => {
      if (isReached() || this.#host.closed() !== undefined) resolve();
    };
    this.#checks.add(check);
    const stopWatch = this.#watchStream();
    check();
    await promise;
    stopWatch();
    this.#checks.delete(check);
  }

  /** Calls `onBehind` when no record arrives: the stream may have been lost without a sign. Returns a function that stops it. */
  #watchStream(): () => void {
    const { clock, seq, onBehind } = this.#host;
    let cancel: () => void = () => undefined;
    const watch = (known: number, ms: number): void => {
      const look = (): void => {
        const isBehind = seq() === known;
        if (isBehind) onBehind();
        watch(seq(), isBehind ? ms * 2 : ms);
      };
      cancel = clock.after(ms, look, { keepsAlive: false });
    };
    watch(seq(), maxLagMs);
    return () => cancel();
  }
}
