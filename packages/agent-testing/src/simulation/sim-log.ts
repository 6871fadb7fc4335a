import {
  LogError,
  memoryLog,
  type EventLog,
  type Lease,
  type LogRecord,
  type MaybePromise,
  type SessionLog,
} from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import type { PendingAppend } from "./pending.ts";

/**
 * How an append goes wrong: nothing is written; all is written and the confirmation is lost; only a part is written;
 * the log is busy and nothing is written.
 */
export const writeFaults = ["nothing-written", "unconfirmed", "torn", "busy"] as const;

export type WriteFault = (typeof writeFaults)[number];

/** Simulated logs take records of this length, above what the agents of most users need for their configuration. */
const longestRecord = 500_000;

/** A text, short enough for the result of a tool, whose record is too long: JSON escapes each of its characters. */
export const oversizedText: string = "\u0001".repeat(Math.ceil(longestRecord / 6));

/** Appends of which the next one fails: with a decision, or a group of three records or more. */
export type WriteTarget = "decision" | "group";

interface SetFault {
  readonly how: WriteFault;
  /** Undefined for the next append of any kind. */
  readonly on: WriteTarget | undefined;
  /** Whether it fails before the append returns, also where appends take their time. */
  readonly atOnce: boolean;
}

const isTarget: Readonly<Record<WriteTarget, (records: readonly LogRecord[]) => boolean>> = {
  decision: (records) => records.some(({ body }) => body.includes('"type":"tool-call-decided"')),
  group: (records) => records.length >= 3,
};

export interface SimLogParts {
  /** The session with faults; the others are those of its sub-agents. */
  readonly id: string;
  /** Appends take their time with it; without it they end at once. */
  readonly wait: ((pending: PendingAppend) => void) | undefined;
  /** Called with what was stored. */
  readonly wrote: (host: string, records: readonly LogRecord[]) => void;
  /** Called as the append of a cancel ends. */
  readonly canceled: () => void;
  /** Called at each passage of the log of a sub-agent: the way of a call there, and the way of its answer back. */
  readonly pass: () => Promise<void>;
}

/** One host's way to a store that all hosts share. It dies with its host, and fails as the simulation demands. */
export class SimLog {
  readonly name = "simulated";
  #dead = false;
  #fault: SetFault | undefined;
  #leaseFault: "lost" | "fails" | undefined;
  #afterRead: (() => void) | undefined;
  readonly #store: EventLog;
  readonly #host: string;
  readonly #parts: SimLogParts;

  constructor(store: EventLog, host: string, parts: SimLogParts) {
    this.#store = store;
    this.#host = host;
    this.#parts = parts;
  }

  failNext(how: WriteFault, on: WriteTarget | undefined, atOnce: boolean): void {
    this.#fault = { how, on, atOnce };
  }

  failNextRenewal(how: "lost" | "fails"): void {
    this.#leaseFault = how;
  }

  /** Calls the function once, as soon as the next read has its records. */
  afterNextRead(call: () => void): void {
    this.#afterRead = call;
  }

  heal(): void {
    this.#fault = undefined;
    this.#leaseFault = undefined;
  }

  /** From now on this host neither reads nor writes: it is gone. */
  kill(): void {
    this.#dead = true;
  }

  /** Whether some append of this host will fail. */
  get failsNext(): boolean {
    return this.#fault !== undefined;
  }

  asEventLog(): EventLog {
    const never = new Promise<never>(() => undefined);
    const alive = <T>(call: () => MaybePromise<T>): MaybePromise<T> => (this.#dead ? never : call());
    const far = async <T>(call: () => MaybePromise<T>): Promise<T> => {
      await this.#parts.pass();
      const answer = await alive(call);
      await this.#parts.pass();
      return await alive(() => answer);
    };
    const wayTo = (id: string): typeof alive => (id === this.#parts.id ? alive : far);
    const altered = (log: SessionLog): Partial<SessionLog> => {
      const isOwn = log.id === this.#parts.id;
      const via = wayTo(log.id);
      return {
        maxRecordLength: longestRecord,
        append: (expectedSeq, records) =>
          via(() => {
            if (isOwn) return this.#append(log, expectedSeq, records);
            checkLength(records);
            return log.append(expectedSeq, records);
          }),
        read: (afterSeq) => via(() => (isOwn ? this.#read(log, afterSeq) : log.read(afterSeq))),
        inspect: () => via(() => log.inspect()),
        checkUpTo: (seq) => via(() => log.checkUpTo(seq)),
        head: () => via(() => log.head()),
        lease: (claim) => via(() => (isOwn ? this.#lease() : undefined) ?? log.lease(claim)),
        currentLease: () => via(() => log.currentLease()),
        release: (owner) => via(() => log.release(owner)),
        watch: (listener) => log.watch(() => (this.#dead ? undefined : listener())),
        snapshot: () => via(() => log.snapshot()),
        saveSnapshot: (snapshot) => via(() => log.saveSnapshot(snapshot)),
      };
    };
    const store = this.#store;
    return withSessions(store, altered, {
      name: this.name,
      open: (id) => wayTo(id)(() => store.open(id)),
      create: (id, ...given) => wayTo(id)(() => store.create(id, ...given)),
      close: () => undefined,
    });
  }

  #read(log: SessionLog, afterSeq: number | undefined): ReturnType<SessionLog["read"]> {
    const records = log.read(afterSeq);
    const call = this.#afterRead;
    this.#afterRead = undefined;
    call?.();
    return records;
  }

  #lease(): Lease | undefined {
    const leaseFault = this.#leaseFault;
    this.#leaseFault = undefined;
    if (leaseFault === "fails") throw new LogError("LogBusy", "Simulated: the lease cannot be renewed.");
    return leaseFault === undefined
      ? undefined
      : { owner: "a-stranger#lease", until: Number.MAX_SAFE_INTEGER };
  }

  #append(log: SessionLog, expectedSeq: number, records: readonly LogRecord[]): void | Promise<void> {
    const write = (): void => this.#write(log, expectedSeq, records);
    const { wait } = this.#parts;
    const host = this.#host;
    if (wait === undefined || (this.#fault?.atOnce === true && this.#meets(this.#fault, records)))
      return write();
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

  #write(log: SessionLog, expectedSeq: number, records: readonly LogRecord[]): void {
    checkLength(records);
    if (records.some(({ body }) => body.includes('"type":"re-act-cancelled"'))) this.#parts.canceled();
    const how = this.#faultFor(records);
    if (how === "nothing-written") throw new LogError("LogWrite", "Simulated: the disk is full.");
    if (how === "busy") throw new LogError("LogBusy", "Simulated: the log is locked.");
    const written = how === "torn" ? records.slice(0, Math.floor(records.length / 2)) : records;
    // The store in memory answers at once.
    void log.append(expectedSeq, written);
    this.#parts.wrote(this.#host, written);
    if (how !== undefined) throw new LogError("LogWrite", "Simulated: the write was not confirmed.");
  }

  #meets({ on }: SetFault, records: readonly LogRecord[]): boolean {
    return on === undefined || isTarget[on](records);
  }

  #faultFor(records: readonly LogRecord[]): WriteFault | undefined {
    const fault = this.#fault;
    if (fault === undefined || !this.#meets(fault, records)) return undefined;
    this.#fault = undefined;
    return fault.how;
  }
}

function checkLength(records: readonly LogRecord[]): void {
  if (records.some(({ body }) => body.length > longestRecord))
    throw new LogError("InvalidRecord", "Simulated: a record is too large.");
}

/** The store that the hosts of one simulated session share. */
export const simStore = (): EventLog => memoryLog();
