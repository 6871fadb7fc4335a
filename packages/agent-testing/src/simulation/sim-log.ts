import { LogError, memoryLog, type EventLog, type LogRecord, type SessionLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import type { PendingAppend } from "./pending.ts";

/** How the next append goes wrong: nothing is written, all is written and nobody is told, or only a part. */
export type WriteFault = "nothing-written" | "written-untold" | "torn";

/** One host's way to a store that all hosts share. It dies with its host, and fails when it is told to. */
export class SimLog {
  readonly name = "simulated";
  private dead = false;
  private fault: WriteFault | undefined;
  private readonly store: EventLog;
  private readonly host: string;
  private readonly wait: ((pending: PendingAppend) => void) | undefined;
  private readonly wrote: (host: string, records: readonly LogRecord[]) => void;

  /** With `wait`, appends take their time; without it they are done at once. `wrote` hears of what came into the store. */
  constructor(
    store: EventLog,
    host: string,
    wait: ((pending: PendingAppend) => void) | undefined,
    wrote: (host: string, records: readonly LogRecord[]) => void,
  ) {
    this.store = store;
    this.host = host;
    this.wait = wait;
    this.wrote = wrote;
  }

  failNext(fault: WriteFault): void {
    this.fault = fault;
  }

  heal(): void {
    this.fault = undefined;
  }

  /** From now on this host neither reads nor writes: it is gone. */
  kill(): void {
    this.dead = true;
  }

  get failsNext(): boolean {
    return this.fault !== undefined;
  }

  asEventLog(): EventLog {
    const never = new Promise<never>(() => undefined);
    const alive = <T>(work: () => T): T | Promise<never> => (this.dead ? never : work());
    const altered = (log: SessionLog): Partial<SessionLog> => ({
      append: (expectedSeq, records) => alive(() => this.append(log, expectedSeq, records)),
      read: (afterSeq) => alive(() => log.read(afterSeq)),
      inspect: () => alive(() => log.inspect()),
      checkUpTo: (seq) => alive(() => log.checkUpTo(seq)),
      head: () => alive(() => log.head()),
      lease: (claim) => alive(() => log.lease(claim)),
      currentLease: () => alive(() => log.currentLease()),
      release: (owner) => alive(() => log.release(owner)),
      watch: (listener) => log.watch(() => (this.dead ? undefined : listener())),
      snapshot: () => alive(() => log.snapshot()),
      saveSnapshot: (snapshot) => alive(() => log.saveSnapshot(snapshot)),
    });
    return withSessions(this.store, altered, { name: this.name, close: () => undefined });
  }

  private append(log: SessionLog, expectedSeq: number, records: readonly LogRecord[]): void | Promise<void> {
    const write = (): void => this.write(log, expectedSeq, records);
    const { wait, host } = this;
    if (wait === undefined) return write();
    return new Promise((resolve, reject) =>
      wait({
        type: "append",
        host,
        finish: () => {
          try {
            write();
            resolve();
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
      }),
    );
  }

  private write(log: SessionLog, expectedSeq: number, records: readonly LogRecord[]): void {
    const { fault } = this;
    this.fault = undefined;
    if (fault === "nothing-written") throw new LogError("LogWrite", "Simulated: the disk is full.");
    const written = fault === "torn" ? records.slice(0, Math.floor(records.length / 2)) : records;
    // The store in memory answers at once.
    void log.append(expectedSeq, written);
    this.wrote(this.host, written);
    if (fault !== undefined) throw new LogError("LogWrite", "Simulated: the write was not confirmed.");
  }
}

/** The store that the hosts of one simulated session share. */
export const simStore = (): EventLog => memoryLog();
