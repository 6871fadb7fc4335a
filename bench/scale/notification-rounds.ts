import { postgresLog } from "@moora/event-log-postgres";
import type { poolOn } from "@moora/testbed/postgres/server";
import { appender, createSessions, rate, recordsPerAppend } from "./appends.ts";
import { notifyRate, type Measured } from "./demand.ts";
import { Listeners } from "./listeners.ts";

type Pool = ReturnType<typeof poolOn>;

/** The number of processes whose rate the formula starts from, besides the rate without one. */
const referenceProcesses = 25;

export interface NotificationLoad {
  /** The numbers of logs that listen, each with connections of its own, as in a process of its own. */
  readonly processes: readonly number[];
  /** The sessions that are appended to, each without a pause. */
  readonly writers: number;
  readonly measureMs: number;
}

/** The appends in a second that `notifyRate` computes, and those that were made. */
export interface NotificationCheck {
  readonly processes: number;
  readonly computed: number;
  readonly measured: number;
  /** The notifications that all processes together received for each append: the number of processes, by `demandOf`. */
  readonly notificationsPerAppend: number;
}

/**
 * Appends records to sessions of a log that notifies, while other logs watch sessions of the same database. All rates are measured once
 * in each round, and the best of each counts, because other work of the machine makes a rate lower and never higher.
 */
export class NotificationRounds {
  readonly #pool: Pool;
  readonly #url: string;
  readonly #load: NotificationLoad;
  readonly #appends = new Map<number, number>();
  readonly #perAppend = new Map<number, number>();

  constructor(pool: Pool, url: string, load: NotificationLoad) {
    this.#pool = pool;
    this.#url = url;
    this.#load = load;
  }

  async run(): Promise<void> {
    for (const processes of new Set([0, referenceProcesses, ...this.#load.processes]))
      await this.#append(processes);
  }

  /** The rates that the formula starts from. */
  rates(): Pick<Measured, "appendsPerSecond" | "appendsWithProcesses"> {
    const appendsWithProcesses = { processes: referenceProcesses, rate: this.#rateOf(referenceProcesses) };
    return { appendsPerSecond: this.#rateOf(0), appendsWithProcesses };
  }

  checks(): readonly NotificationCheck[] {
    return this.#load.processes.map((processes) => ({
      processes,
      computed: Math.round(notifyRate(processes, this.rates())),
      measured: this.#rateOf(processes),
      notificationsPerAppend: this.#perAppend.get(processes) ?? Number.NaN,
    }));
  }

  #rateOf(processes: number): number {
    return this.#appends.get(processes) ?? Number.NaN;
  }

  async #append(processes: number): Promise<void> {
    const { writers, measureMs } = this.#load;
    await using log = postgresLog(this.#pool);
    const sessions = await createSessions(log, `round ${crypto.randomUUID()}`, writers);
    await using listeners = await Listeners.start(this.#url, processes);
    const appenders = sessions.map((session) => appender(session));
    const appendRate = await rate(measureMs, appenders);
    this.#appends.set(processes, Math.max(appendRate, this.#appends.get(processes) ?? 0));
    let records = 0;
    for (const session of sessions) records += await session.head();
    const appends = records / recordsPerAppend;
    this.#perAppend.set(processes, (await listeners.received(appends * processes)) / appends);
  }
}
