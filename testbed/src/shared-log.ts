import type { EventLog } from "@moora/event-log";
import { andThen, keepStop } from "@moora/event-log/store";

/** Logs that share one open log, as the parts of one process do. It is closed with the last of them. */
export class SharedLog {
  readonly #open: () => EventLog;
  #log: EventLog | undefined;
  #users = 0;

  constructor(open: () => EventLog) {
    this.#open = open;
  }

  open(): EventLog {
    const log = (this.#log ??= this.#open());
    const stops = new Set<() => void>();
    this.#users += 1;
    let isClosed = false;
    /** A handle whose watches end with this log. */
    const watched: EventLog["open"] = (id) =>
      andThen(log.open(id), (session) => {
        if (session === undefined) return undefined;
        const watch = session.watch.bind(session);
        session.watch = (listener) => keepStop(stops, watch(listener));
        return session;
      });
    return {
      ...(log.blobs === undefined ? {} : { blobs: log.blobs }),
      name: log.name,
      create: (...args) => log.create(...args),
      open: watched,
      list: () => log.list(),
      remove: (id) => log.remove(id),
      close: () => {
        for (const stop of stops) stop();
        stops.clear();
        if (isClosed) return undefined;
        isClosed = true;
        this.#users -= 1;
        if (this.#users > 0) return undefined;
        this.#log = undefined;
        return log.close();
      },
    };
  }
}
