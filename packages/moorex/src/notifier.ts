/** Delivers notices: to `onNotice` first, then to the subscribers, in the order in which they subscribed. */
export interface Notifier<Notice> {
  /** Whether a notice would reach a listener; where it would not, making one is wasted. */
  readonly hasListeners: boolean;
  emit(notice: Notice): void;
  subscribe(listener: (notice: Notice) => void): () => void;
}

/**
 * Keeps I6 for listeners: one that throws does not keep the others from hearing. `errorToNotice` makes the notice that
 * reports its error; undefined for an error that is thrown while such a notice is heard, which could go on for ever.
 */
export function notifier<Notice>(
  onNotice: ((notice: Notice) => void) | undefined,
  errorToNotice: (error: unknown, heard: Notice) => Notice | undefined,
): Notifier<Notice> {
  const listeners = new Set<(notice: Notice) => void>();

  const deliver = (listener: (notice: Notice) => void, notice: Notice): void => {
    try {
      listener(notice);
    } catch (error) {
      const report = errorToNotice(error, notice);
      if (report !== undefined) emit(report);
    }
  };

  const emit = (notice: Notice): void => {
    if (onNotice !== undefined) deliver(onNotice, notice);
    for (const listener of listeners) deliver(listener, notice);
  };

  return {
    get hasListeners() {
      return onNotice !== undefined || listeners.size > 0;
    },
    emit,
    subscribe(listener) {
      const own = (notice: Notice): void => listener(notice);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
