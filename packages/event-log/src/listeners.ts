interface Listening {
  readonly listener: () => void;
  isDue: boolean;
}

/**
 * Who wants to hear of new records, by the key of a log. A listener is called in a microtask, once for all that came
 * before it, so that what it does or throws cannot reach into the append that it hears of.
 */
export class Listeners {
  readonly #byKey = new Map<string, Set<Listening>>();

  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  get size(): number {
    return this.#byKey.size;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  add(key: string, listener: () => void): () => void {
    const listening: Listening = { listener, isDue: false };
    const all = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, all.add(listening));
    return () => {
      listening.isDue = false;
      if (all.delete(listening) && all.size === 0 && this.#byKey.get(key) === all) this.#byKey.delete(key);
    };
  }

  notify(key: string): void {
    for (const listening of this.#byKey.get(key) ?? []) {
      if (listening.isDue) continue;
      listening.isDue = true;
      queueMicrotask(() => {
        if (!listening.isDue) return;
        listening.isDue = false;
        listening.listener();
      });
    }
  }

  clear(): void {
    for (const all of this.#byKey.values()) {
      for (const listening of all) listening.isDue = false;
      all.clear();
    }
    this.#byKey.clear();
  }
}
