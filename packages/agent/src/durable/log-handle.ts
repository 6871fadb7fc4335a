import { LogError, type EventLog, type MaybePromise, type SessionLog } from "@moora/event-log";
import { andThen } from "./maybe-promise.ts";

/** One session of a store through a replaceable handle: after a failed write, stores require a new one. */
export interface LogHandle {
  readonly log: SessionLog;
  /** Opens the session again. Throws `LogRemoved` if it was removed, even if another session has its id now. */
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
