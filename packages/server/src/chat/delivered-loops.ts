/** What one user has been sent of the newest loop of a session. */
interface Delivered {
  readonly loop: number;
  /** Whether the user has been sent the end of the loop. */
  isWhole: boolean;
  /** How many pages have read a part of it, and have not resumed it yet. */
  behind: number;
}

/** The most users of sessions that are remembered. One that is forgotten is sent a loop once more. */
const maxEntries = 10_000;

/**
 * What the pages of users have been sent of the newest loop of their chats, as far as this server has sent it: a page that may lack the end
 * of a loop is sent it again.
 */
export class DeliveredLoops {
  readonly #entries = new Map<string, Delivered>();

  /** A page has read a part of a loop, and resumes it. */
  readPart(session: string, user: string, loop: number): void {
    this.#entry(session, user, loop).behind += 1;
  }

  /** A page was sent the end of a loop. `isResumed`: after it had read a part of it. */
  sentWhole(session: string, user: string, loop: number, isResumed = false): void {
    const entry = this.#entry(session, user, loop);
    entry.isWhole = true;
    if (isResumed) entry.behind = Math.max(0, entry.behind - 1);
  }

  /** Whether a user has been sent the end of a loop. */
  isWhole(session: string, user: string, loop: number): boolean {
    const entry = this.#entries.get(keyOf(session, user));
    return entry?.loop === loop && entry.isWhole;
  }

  /** Whether a page of a user may lack the end of a loop. */
  mayBeBehind(session: string, user: string, loop: number): boolean {
    const entry = this.#entries.get(keyOf(session, user));
    return entry?.loop !== loop || !entry.isWhole || entry.behind > 0;
  }

  #entry(session: string, user: string, loop: number): Delivered {
    const key = keyOf(session, user);
    const before = this.#entries.get(key);
    const entry = before?.loop === loop ? before : { loop, isWhole: false, behind: 0 };
    // The newest ones are last.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }
}

const keyOf = (session: string, user: string): string => JSON.stringify([session, user]);
