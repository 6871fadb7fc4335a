import type { EventLog, LogRecord, SessionLog } from "@moora/event-log";
import type { Clock } from "@moora/agent";

/**
 * When a process dies: before it has written record `seq`, right after, at its n-th call of the log, or when the n-th of
 * its tools has done its work and not reported it; each counted from 1.
 */
export type Death =
  | { readonly seq: number; readonly when: "before" | "after" }
  | { readonly call: number }
  | { readonly work: number };

/** Thrown where a process would have ended: nothing catches it. */
export class Died extends Error {
  override readonly name = "Died";
}

/** The lifetime of a process: after its death, its pending work has no effect. */
export class Life {
  #isOver = false;
  #works = 0;
  readonly death: Death | undefined;
  readonly #end: () => void;

  /** `end` is called at the time of death; a real process kills itself in it. */
  constructor(death?: Death, end: () => void = () => undefined) {
    this.death = death;
    this.#end = end;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  die(): never {
    this.#isOver = true;
    this.#end();
    throw new Died("This process is dead.");
  }

  /** Called when a tool has had its effect. */
  didWork(): void {
    this.#works += 1;
    if (this.death !== undefined && "work" in this.death && this.death.work === this.#works) this.die();
  }

  check(): void {
    if (this.#isOver) throw new Died("This process is dead.");
  }

  /** The clock of a process. After its death, timers do not fire. */
  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      after: (ms, callback) => clock.after(ms, () => (this.#isOver ? undefined : callback())),
    };
  }
}

/** A log whose process dies at one of its calls. */
export function mortalLog(log: EventLog, life: Life): EventLog {
  const { death } = life;
  let calls = 0;
  const alive =
    <Args extends readonly unknown[], Result>(use: (...args: Args) => Result) =>
    (...args: Args): Result => {
      life.check();
      calls += 1;
      if (death !== undefined && "call" in death && death.call === calls) life.die();
      return use(...args);
    };
  const handle = (session: SessionLog): SessionLog => ({
    id: session.id,
    header: session.header,
    append: alive((expectedSeq, records) => {
      const isDue = death !== undefined && "seq" in death && holds(expectedSeq, records, death.seq);
      if (isDue && death.when === "before") life.die();
      const done = session.append(expectedSeq, records);
      if (!isDue) return done;
      if (done instanceof Promise) return done.then(() => life.die());
      return life.die();
    }),
    read: alive((afterSeq?: number) => session.read(afterSeq)),
    inspect: alive(() => session.inspect()),
    checkUpTo: alive((seq) => session.checkUpTo(seq)),
    head: alive(() => session.head()),
    lease: alive((claim) => session.lease(claim)),
    currentLease: alive(() => session.currentLease()),
    release: alive((owner) => session.release(owner)),
    watch: (listener) => session.watch(() => (life.isOver ? undefined : listener())),
    snapshot: alive(() => session.snapshot()),
    saveSnapshot: alive((snapshot) => session.saveSnapshot(snapshot)),
  });
  return {
    name: log.name,
    create: alive((id, header, claim) => mapped(log.create(id, header, claim), handle)),
    open: alive((id) => mapped(log.open(id), (session) => session && handle(session))),
    list: alive(() => log.list()),
    remove: alive((id) => log.remove(id)),
    close: () => undefined,
  };
}

const holds = (expectedSeq: number, records: readonly LogRecord[], seq: number): boolean =>
  seq > expectedSeq && seq <= expectedSeq + records.length;

const mapped = <From, To>(value: From | Promise<From>, to: (value: From) => To): To | Promise<To> =>
  value instanceof Promise ? value.then(to) : to(value);
