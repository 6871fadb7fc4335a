import type { EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";

/** The error of a process that can write no more. */
export class Interrupted extends Error {}

/** Whether work ends before its process can write no more. */
export async function ends(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return false;
  }
}

/** The writes of a process: after `left` of them, all fail. */
export interface Writes {
  left: number;
}

/** A log that counts the writes of a process, and fails those after the last one. */
export function interrupted(log: EventLog, writes: Writes): EventLog {
  const write = <Value>(work: () => Value): Value => {
    if (writes.left === 0) throw new Interrupted();
    writes.left -= 1;
    return work();
  };
  const changes: Partial<EventLog> = {
    create: (id, header, claim) => write(() => log.create(id, header, claim)),
    remove: (id) => write(() => log.remove(id)),
    ...(log.called === undefined ? {} : { called: (prefix) => log.called?.(prefix) ?? [] }),
    ...(log.page === undefined ? {} : { page: (query) => log.page?.(query) ?? [] }),
  };
  return withSessions(
    log,
    (session) => ({
      append: (seq, records) => write(() => session.append(seq, records)),
      lease: (claim) => write(() => session.lease(claim)),
      release: (owner) => write(() => session.release(owner)),
      removeAt: (seq) => write(() => session.removeAt?.(seq) ?? false),
    }),
    changes,
  );
}
