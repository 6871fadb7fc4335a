import { nextWorkAt, type DurableSession } from "@moora/agent";

/** How to open the session of an object, and what to do with it. */
export interface KeeperOptions {
  readonly open: () => Promise<DurableSession<unknown>>;
  /** How long a session without requests and work stays open, in milliseconds. */
  readonly idleMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * The open session of an object. It is closed when it is idle, since its timers would keep the object in memory, and opened again
 * by the next request or alarm.
 */
export class SessionKeeper {
  readonly #options: KeeperOptions;
  #opening: Promise<DurableSession<unknown>> | undefined;
  #closing: Promise<void> | undefined;
  #uses = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  /** Runs work on the session, which stays open meanwhile. */
  async use<Result>(work: (session: DurableSession<unknown>) => Promise<Result>): Promise<Result> {
    this.#uses += 1;
    this.#cancelClose();
    try {
      return await work(await this.#open());
    } finally {
      this.#uses -= 1;
      this.#closeWhenIdle();
    }
  }

  /** Closes the session, after an earlier one. Rejects if this one cannot be closed. */
  async close(): Promise<void> {
    this.#cancelClose();
    const [opening, before] = [this.#opening, this.#closing];
    this.#opening = undefined;
    this.#closing = (async () => {
      await before?.catch(() => undefined);
      const session = await opening?.catch(() => undefined);
      await session?.close();
    })();
    await this.#closing;
  }

  async #open(): Promise<DurableSession<unknown>> {
    await this.#closing?.catch(() => undefined);
    this.#opening ??= this.#options.open();
    const opening = this.#opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  async #closeIfIdle(): Promise<void> {
    this.#timer = undefined;
    const session = await this.#opening?.catch(() => undefined);
    if (session === undefined || this.#uses > 0) return;
    if (nextWorkAt(session.current()) === 0) this.#closeWhenIdle();
    else await this.close();
  }

  /** Closes the session after `idleMs`, unless it is used or has work then. */
  #closeWhenIdle(): void {
    const { idleMs, onError } = this.#options;
    this.#timer ??= setTimeout(() => void this.#closeIfIdle().catch(onError), idleMs);
  }

  #cancelClose(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
