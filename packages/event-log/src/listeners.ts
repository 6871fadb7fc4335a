interface Registration {
  readonly listener: () => void;
  isDue: boolean;
}

/**
 * Listeners for new records, by session. A listener is called in a microtask, once for all notifications before it, so that
 * an error in a listener cannot affect the append that notifies it.
 */
export class Listeners {
  readonly #byKey = new Map<string, Set<Registration>>();

  /** The sessions that have listeners. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  /** The number of sessions that have listeners. */
  get size(): number {
    return this.#byKey.size;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Adds a listener; returns a function that removes it. */
  add(key: string, listener: () => void): () => void {
    const registration: Registration = { listener, isDue: false };
    const all = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, all.add(registration));
    return () => {
      registration.isDue = false;
      if (all.delete(registration) && all.size === 0 && this.#byKey.get(key) === all) this.#byKey.delete(key);
    };
  }

  /** Schedules the listeners of a session. */
  notify(key: string): void {
    for (const registration of this.#byKey.get(key) ?? []) {
      if (registration.isDue) continue;
      registration.isDue = true;
      queueMicrotask(() => {
        if (!registration.isDue) return;
        registration.isDue = false;
        registration.listener();
      });
    }
  }

  /** Removes all listeners, including those that are scheduled. */
  clear(): void {
    for (const all of this.#byKey.values()) {
      for (const registration of all) registration.isDue = false;
      all.clear();
    }
    this.#byKey.clear();
  }
}
