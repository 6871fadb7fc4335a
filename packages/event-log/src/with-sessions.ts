import { andThen } from "./maybe-promise.ts";
import type { EventLog, SessionLog } from "./port.ts";

/**
 * Wraps a log: `alter` replaces methods of its session handles, and `changes` replaces methods of the log. What the log answers
 * at once, the wrapped one answers at once.
 */
export function withSessions(
  log: EventLog,
  alter: (session: SessionLog) => Partial<SessionLog>,
  changes: Partial<EventLog> = {},
): EventLog {
  const handle = (session: SessionLog): SessionLog => ({
    id: session.id,
    header: session.header,
    ...(session.maxRecordLength === undefined ? {} : { maxRecordLength: session.maxRecordLength }),
    append: (expectedSeq, records) => session.append(expectedSeq, records),
    read: (afterSeq, limit) => session.read(afterSeq, limit),
    inspect: () => session.inspect(),
    checkUpTo: (seq) => session.checkUpTo(seq),
    head: () => session.head(),
    lease: (claim) => session.lease(claim),
    currentLease: () => session.currentLease(),
    release: (owner) => session.release(owner),
    watch: (listener) => session.watch(listener),
    snapshot: () => session.snapshot(),
    saveSnapshot: (snapshot) => session.saveSnapshot(snapshot),
    ...alter(session),
  });
  const altered: EventLog = {
    name: log.name,
    create: (id, header, claim) => log.create(id, header, claim),
    open: (id) => log.open(id),
    list: () => log.list(),
    remove: (id) => log.remove(id),
    close: () => log.close(),
    ...changes,
  };
  return {
    ...altered,
    create: (id, header, claim) => andThen(altered.create(id, header, claim), handle),
    open: (id) =>
      andThen(altered.open(id), (session) => (session === undefined ? undefined : handle(session))),
  };
}
