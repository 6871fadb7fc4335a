interface Registration {
  readonly listener: () => void;
  readonly owner: object | undefined;
  /** The newest head that the owner has appended or the listener was called for; undefined before the first call. */
  seenHead: string | undefined;
  isDue: boolean;
}

/** An append, for {@link Listeners.notify}. */
export interface AppendNotice {
  /** The handle that appended: its own listeners are not called. */
  readonly by: object;
  /** The head after the append, as text, if it is known. */
  readonly head?: string | undefined;
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

  /** Adds a listener; returns a function that removes it. `owner` is the handle whose own appends it need not be called for. */
  add(key: string, listener: () => void, owner?: object): () => void {
    const registration: Registration = { listener, owner, seenHead: undefined, isDue: false };
    const all = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, all.add(registration));
    return () => {
      registration.isDue = false;
      if (all.delete(registration) && all.size === 0 && this.#byKey.get(key) === all) this.#byKey.delete(key);
    };
  }

  /** Schedules the listeners of a session: all of them, or those that are not owned by the handle that appended. */
  notify(key: string, append?: AppendNotice): void {
    const registrations = this.#byKey.get(key);
    if (registrations === undefined) return;
    for (const registration of registrations) {
      // The first head is always reported, since records may have been added before the listener.
      if (registration.seenHead !== undefined) registration.seenHead = append?.head ?? registration.seenHead;
      if (append === undefined || registration.owner !== append.by) schedule(registration);
    }
  }

  /** Schedules the listeners of a session that have not seen this head. */
  notifyOfHead(key: string, head: string): void {
    for (const registration of this.#byKey.get(key) ?? []) {
      if (registration.seenHead === head) continue;
      registration.seenHead = head;
      schedule(registration);
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

/** Keeps a function that stops something until it is called, by the returned one or by the owner of the set, who then clears it. */
export function keepStop(stops: Set<() => void>, stopListening: () => void): () => void {
  const stop = (): void => {
    stops.delete(stop);
    stopListening();
  };
  stops.add(stop);
  return stop;
}

function schedule(registration: Registration): void {
  if (registration.isDue) return;
  registration.isDue = true;
  queueMicrotask(() => {
    if (!registration.isDue) return;
    registration.isDue = false;
    registration.listener();
  });
}
