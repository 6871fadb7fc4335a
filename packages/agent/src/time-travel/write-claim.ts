import type { EventLog, SessionLog } from "@moora/event-log";
import { systemClock } from "../clock.ts";
import { closingClaim } from "../durable/closed-copy.ts";
import { SessionError } from "../durable/session-error.ts";
import { newWriteHolder, removeWrite, writeMs } from "../durable/unfinished-write.ts";

/** The claim of this process on a session that it writes. It closes the session, and is renewed until it is released. */
export class WriteClaim {
  readonly #log: EventLog;
  readonly #session: SessionLog;
  readonly #holder: string;
  #renewedAt = -Infinity;
  #cancelTimer = (): void => undefined;
  /** The renewal by the timer. The next renewal before a batch rejects if the claim was lost. */
  #renewing: Promise<unknown> = Promise.resolve();

  private constructor(log: EventLog, session: SessionLog, holder: string) {
    this.#log = log;
    this.#session = session;
    this.#holder = holder;
    this.#schedule();
  }

  /** Creates a session with the claim. Rejects with `LogExists`. */
  static async create(log: EventLog, id: string, header: string): Promise<WriteClaim> {
    const holder = newWriteHolder();
    const claim = closingClaim(holder, systemClock.now());
    return new WriteClaim(log, await log.create(id, header, claim), holder);
  }

  get session(): SessionLog {
    return this.#session;
  }

  /**
   * Renews the claim if a third of its time has passed, also before the first batch: a log of your own may ignore the claim of a
   * creation. Rejects with `StaleWriter` if it was lost.
   */
  async renewIfDue(): Promise<void> {
    if (systemClock.now() - this.#renewedAt >= writeMs / 3) await this.#renew();
  }

  /** Opens the session, which has all records. */
  async release(): Promise<void> {
    await this.#stop();
    await this.renewIfDue();
    await this.#session.release(this.#holder);
  }

  /** Removes the session, unless another process has it. */
  async discard(): Promise<void> {
    await this.#stop();
    await removeWrite(this.#log, this.#session, this.#holder);
  }

  /** A renewal that is under way would claim the session again after its release. */
  async #stop(): Promise<void> {
    this.#cancelTimer();
    await this.#renewing;
  }

  /** For an append that takes long. */
  #schedule(): void {
    const renew = (): void => {
      this.#renewing = this.#renew().catch(() => undefined);
      this.#schedule();
    };
    this.#cancelTimer = systemClock.after(writeMs / 3, renew, { keepsAlive: false });
  }

  async #renew(): Promise<void> {
    const now = systemClock.now();
    const { owner } = await this.#session.lease(closingClaim(this.#holder, now));
    if (owner !== this.#holder) throw claimLostError(this.#session.id);
    this.#renewedAt = now;
  }
}

const claimLostError = (id: string): SessionError =>
  new SessionError(
    "StaleWriter",
    `Another process has claimed the session ${id}, which this process was writing and has not renewed for ${writeMs} ms. Write it again.`,
  );
