import { LogError, type EventLog, type MaybePromise, type SessionLog } from "@moora/event-log";
import { andThen } from "./maybe-promise.ts";

/** One session of a store, through whatever handle is good: after a failed write, stores want it opened again. */
export interface LogHandle {
  readonly log: SessionLog;
  /** Opens the session again. `LogRemoved` when it is gone, or when another session has its id. */
  renew(): MaybePromise<void>;
}

export function logHandle(store: EventLog, first: SessionLog): LogHandle {
  let log = first;
  return {
    get log() {
      return log;
    },
    renew: () =>
      andThen(store.open(first.id), (found) => {
        if (found?.header !== first.header)
          throw new LogError("LogRemoved", `The session ${JSON.stringify(first.id)} was removed.`);
        log = found;
      }),
  };
}
