import { stateAt, type EventLog } from "@moora/agent";
import { isLastAttemptNext } from "@moora/agent/internal";

/**
 * Keeps sessions apart whose work has one attempt left. A process that dies interrupts all calls that are open in it, also those of
 * sessions that have nothing to do with its end. Of the sessions that were interrupted so often, one runs at a time: if the process
 * dies again, it is the one that is given up, and the others have their last attempt.
 */
export class LastAttempts {
  readonly #log: EventLog;
  #running: string | undefined;
  /** Those that wait for the one that runs. */
  readonly #waiting = new Set<string>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Whether a session may run now. One that may is released when it has ended. */
  async admit(id: string): Promise<boolean> {
    if (this.#waiting.has(id)) return false;
    if (!(await this.#hasLastAttempt(id))) return true;
    if (this.#running === undefined) {
      this.#running = id;
      return true;
    }
    this.#waiting.add(id);
    return false;
  }

  release(id: string): void {
    if (this.#running !== id) return;
    this.#running = undefined;
    this.#waiting.clear();
  }

  /** A session whose process gave its lease back was not left by a crash, and its state is not read. */
  async #hasLastAttempt(id: string): Promise<boolean> {
    const session = await this.#log.open(id);
    if (session === undefined || (await session.currentLease()) === undefined) return false;
    try {
      return isLastAttemptNext((await stateAt(this.#log, id)).state);
    } catch {
      // Its opening reports what is wrong with it.
      return false;
    }
  }
}
