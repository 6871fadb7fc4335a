import { LogError, type EventLog, type MaybePromise, type SessionLog } from "@moora/event-log";
import { andThen } from "@moora/event-log/store";

/** One session of a store through a replaceable handle: after a failed write, stores require a new one. */
export interface LogHandle {
  readonly log: SessionLog;
  /** Opens the session again. Throws `LogRemoved` if it was removed, even if another session has its id now. */
  renew(): MaybePromise<void>;
  /** Watches the session through the current handle, also after `renew`: a handle does not report its own appends. */
  watch(listener: () => void): () => void;
}

export function logHandle(store: EventLog, first: SessionLog): LogHandle {
  let log = first;
  /** For each listener, the function that stops its watch of the current handle. */
  const watches = new Map<() => void, () => void>();
  const replace = (found: SessionLog): void => {
    log = found;
    for (const [listener, stop] of watches) {
      stop();
      watches.set(listener, log.watch(listener));
    }
  };
  return {
    get log() {
      return log;
    },
    renew: () =>
      andThen(store.open(first.id), (found) => {
        if (found?.header !== first.header)
          throw new LogError("LogRemoved", `The session ${JSON.stringify(first.id)} was removed.`);
        replace(found);
      }),
    watch(callback) {
      // A function of its own for each call, so that one callback can watch twice.
      const listener = (): void => callback();
      watches.set(listener, log.watch(listener));
      return () => {
        watches.get(listener)?.();
        watches.delete(listener);
      };
    },
  };
}
