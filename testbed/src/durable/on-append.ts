import type { EventLog, LogRecord } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { typesOf } from "./remote-log.ts";

/** What is appended: the types of all inputs, those that begin with others included, and the records of the session `id`. */
export interface Append {
  readonly types: readonly string[];
  readonly records: readonly LogRecord[];
  readonly id: string;
}

/** A log that calls a function before each append, which throws for one that fails. */
export const onAppend = (log: EventLog, before: (append: Append) => void | Promise<void>): EventLog =>
  withSessions(log, (session) => ({
    append(expectedSeq, records) {
      const waits = before({ types: typesOf(records), records, id: session.id });
      const write = (): void | Promise<void> => session.append(expectedSeq, records);
      return waits instanceof Promise ? waits.then(write) : write();
    },
    ...(session.removeAt === undefined ? {} : { removeAt: session.removeAt.bind(session) }),
  }));
