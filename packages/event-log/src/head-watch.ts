import { Listeners, type AppendNotice } from "./listeners.ts";
import { isPromise, andThen } from "./maybe-promise.ts";
import type { MaybePromise } from "./port.ts";
import { unreferencedInterval } from "./unreferenced-interval.ts";

/** The interval at which heads are compared, for changes that the source does not report. */
const pollMs = 1_000;

/** How a {@link HeadWatch} reads heads and receives changes. */
export interface HeadWatchOptions {
  /**
   * Returns the current head of each of these sessions, as text. Called once a second with the watched sessions, and with
   * the reported ones when `source` reports a change. Errors are ignored: the next call follows within a second.
   */
  readonly headsOf: (keys: readonly string[]) => MaybePromise<ReadonlyMap<string, string>>;
  /** Starts to listen for changes; returns a function that stops it. Runs while at least one session is watched. */
  readonly source?: (onChange: (keys?: readonly string[]) => void) => () => void;
  /** The number of sessions that one poll checks; the next poll continues after them. Default: all. */
  readonly keysPerPoll?: number;
}

/**
 * Calls the listeners of a session when its head has moved. All sessions of a log share one timer and one source of changes,
 * which run only while a session is watched and do not keep the process alive.
 */
export class HeadWatch {
  readonly #options: HeadWatchOptions;
  readonly #listeners = new Listeners();
  readonly #due = new Set<string>();
  #isChecking = false;
  #nextKey = 0;
  #stopSource: (() => void) | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: HeadWatchOptions) {
    this.#options = options;
  }

  /**
   * Adds a listener to a session; returns a function that removes it. The listener is called at least once, because the
   * session may have changed before it was watched. `owner` is the handle whose own appends it need not be called for.
   */
  add(key: string, listener: () => void, owner?: object): () => void {
    const remove = this.#listeners.add(key, listener, owner);
    this.#start();
    this.#check([key]);
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Whether a session has listeners. */
  has(key: string): boolean {
    return this.#listeners.has(key);
  }

  /** Calls the listeners of a session that this process has changed; after an append, only those of other handles. */
  notify(key: string, append?: AppendNotice): void {
    this.#listeners.notify(key, append);
  }

  /** Removes all listeners and stops the timer and the source. */
  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    this.#stopTimer ??= unreferencedInterval(() => this.#poll(), pollMs);
    this.#stopSource ??= this.#options.source?.((keys) => this.#check(keys ?? this.#listeners.keys));
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
    this.#check(keys.slice(this.#nextKey, this.#nextKey + keysPerPoll));
    this.#nextKey += keysPerPoll;
  }

  /** Checks sessions now, or after the check that is in progress. */
  #check(keys: readonly string[]): void {
    for (const key of keys) this.#due.add(key);
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const finished = andThen(this.#checkDue(), () => this.#finishCheck());
      if (isPromise(finished)) void finished.catch(() => this.#finishCheck());
    } catch {
      this.#finishCheck();
    }
  }

  #checkDue(): MaybePromise<void> {
    const keys = [...this.#due].filter((key) => this.#listeners.has(key));
    this.#due.clear();
    if (keys.length === 0) return undefined;
    return andThen(this.#options.headsOf(keys), (heads) => {
      for (const key of keys) this.#listeners.notifyOfHead(key, heads.get(key) ?? "removed");
    });
  }

  #finishCheck(): void {
    this.#isChecking = false;
    if (this.#due.size > 0) this.#check([]);
  }
}
