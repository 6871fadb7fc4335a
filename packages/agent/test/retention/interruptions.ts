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

/** The pause of a process: before one of its requests to its logs, the first is 1, it waits until it is resumed. */
export class Pause {
  #requests = 0;
  readonly #at: number;
  readonly #reached = Promise.withResolvers<void>();
  readonly #resumed = Promise.withResolvers<void>();

  constructor(at: number) {
    this.#at = at;
  }

  /** Resolves when the process waits. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  resume(): void {
    this.#resumed.resolve();
  }

  async before<Value>(request: () => Value | Promise<Value>): Promise<Value> {
    this.#requests += 1;
    if (this.#requests === this.#at) {
      this.#reached.resolve();
      await this.#resumed.promise;
    }
    return await request();
  }
}

/** A log of a process that pauses. */
export const paused = (log: EventLog, pause: Pause): EventLog =>
  withSessions(
    log,
    (session) => ({
      append: (seq, records) => pause.before(() => session.append(seq, records)),
      read: (afterSeq, limit) => pause.before(() => session.read(afterSeq, limit)),
      inspect: () => pause.before(() => session.inspect()),
      head: () => pause.before(() => session.head()),
      lease: (claim) => pause.before(() => session.lease(claim)),
      currentLease: () => pause.before(() => session.currentLease()),
      release: (owner) => pause.before(() => session.release(owner)),
      removeAt: (seq) => pause.before(() => session.removeAt?.(seq) ?? false),
    }),
    {
      create: (id, header, claim) => pause.before(() => log.create(id, header, claim)),
      open: (id) => pause.before(() => log.open(id)),
      remove: (id) => pause.before(() => log.remove(id)),
      called: (prefix) => pause.before(() => log.called?.(prefix) ?? []),
    },
  );
