import { Listeners } from "./listeners.ts";
import { isPromise, andThen } from "./maybe-promise.ts";
import type { MaybePromise } from "./port.ts";
import { unreferencedInterval } from "./unreferenced-interval.ts";

/** How often heads are compared where the system reports no changes. */
const pollMs = 1_000;

export interface HeadWatchOptions {
  /**
   * The present head of each of these sessions, as text. Called with all that are watched once a second, and with some
   * whenever `source` reports them. A failure is ignored: the next call follows in a second.
   */
  readonly headsOf: (keys: readonly string[]) => MaybePromise<ReadonlyMap<string, string>>;
  /** Begins to listen for changes while at least one session is watched; returns a function that stops it. */
  readonly source?: (changed: (keys?: readonly string[]) => void) => () => void;
  /** How many sessions one poll looks at; the next poll continues with the next ones. Default: all. */
  readonly keysPerPoll?: number;
}

/**
 * Calls listeners of a session when its head has moved. All sessions of a log share one timer and one source of changes,
 * and both exist only while a session is watched. They keep no process alive.
 */
export class HeadWatch {
  readonly #options: HeadWatchOptions;
  readonly #listeners = new Listeners();
  readonly #heads = new Map<string, string>();
  readonly #due = new Set<string>();
  #isLooking = false;
  #nextKey = 0;
  #stopSource: (() => void) | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: HeadWatchOptions) {
    this.#options = options;
  }

  /** Calls back at least once: a session may have changed before it was watched. */
  add(key: string, listener: () => void): () => void {
    const remove = this.#listeners.add(key, listener);
    this.#start();
    this.#look([key]);
    return () => {
      remove();
      if (!this.#listeners.has(key)) this.#heads.delete(key);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  has(key: string): boolean {
    return this.#listeners.has(key);
  }

  /** Calls the listeners of a session that was changed by this process. */
  notify(key: string): void {
    this.#listeners.notify(key);
  }

  close(): void {
    this.#listeners.clear();
    this.#heads.clear();
    this.#stop();
  }

  #start(): void {
    this.#stopTimer ??= unreferencedInterval(() => this.#poll(), pollMs);
    this.#stopSource ??= this.#options.source?.((keys) => this.#look(keys ?? this.#listeners.keys));
  }

  #stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#stopSource?.();
    this.#stopSource = undefined;
    this.#due.clear();
  }

  #poll(): void {
    const { keys } = this.#listeners;
    const { keysPerPoll = keys.length } = this.#options;
    if (this.#nextKey >= keys.length) this.#nextKey = 0;
    this.#look(keys.slice(this.#nextKey, this.#nextKey + keysPerPoll));
    this.#nextKey += keysPerPoll;
  }

  /** Looks at sessions, after the look that is under way. */
  #look(keys: readonly string[]): void {
    for (const key of keys) this.#due.add(key);
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const ended = andThen(this.#lookAtDue(), () => this.#ended());
      if (isPromise(ended)) void ended.catch(() => this.#ended());
    } catch {
      this.#ended();
    }
  }

  #lookAtDue(): MaybePromise<void> {
    const keys = [...this.#due].filter((key) => this.#listeners.has(key));
    this.#due.clear();
    if (keys.length === 0) return undefined;
    return andThen(this.#options.headsOf(keys), (heads) => {
      for (const key of keys) this.#see(key, heads.get(key) ?? "removed");
    });
  }

  #ended(): void {
    this.#isLooking = false;
    if (this.#due.size > 0) this.#look([]);
  }

  #see(key: string, head: string): void {
    if (this.#heads.get(key) === head || !this.#listeners.has(key)) return;
    this.#heads.set(key, head);
    this.#listeners.notify(key);
  }
}
