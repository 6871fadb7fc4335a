import { postgresLog } from "@moora/event-log-postgres";
import type { poolOn } from "@moora/testbed/postgres/server";
import { appender, createSessions, rate, recordsPerAppend } from "./appends.ts";
import { notifyRate, type Measured } from "./demand.ts";
import { Listeners } from "./listeners.ts";

type Pool = ReturnType<typeof poolOn>;
type NotifyRates = Measured["notifiesPerSecond"];

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
  readonly #notifies = new Map<number, number>();
  readonly #perAppend = new Map<number, number>();

  constructor(pool: Pool, url: string, load: NotificationLoad) {
    this.#pool = pool;
    this.#url = url;
    this.#load = load;
  }

  /** Runs one round. `notifies`: the rates of notifications without records in this round. */
  async run(notifies: NotifyRates): Promise<void> {
    for (const { listeners, rate: one } of notifies) raise(this.#notifies, listeners, one);
    for (const processes of [0, ...this.#load.processes]) await this.#append(processes);
  }

  results(): readonly NotificationCheck[] {
    const appendsPerSecond = this.#appends.get(0) ?? Number.NaN;
    const notifiesPerSecond = [...this.#notifies].map(([listeners, one]) => ({ listeners, rate: one }));
    return this.#load.processes.map((processes) => ({
      processes,
      computed: Math.round(notifyRate(processes, { appendsPerSecond, notifiesPerSecond })),
      measured: this.#appends.get(processes) ?? Number.NaN,
      notificationsPerAppend: this.#perAppend.get(processes) ?? Number.NaN,
    }));
  }

  async #append(processes: number): Promise<void> {
    const { writers, measureMs } = this.#load;
    await using log = postgresLog(this.#pool);
    const sessions = await createSessions(log, `round ${crypto.randomUUID()}`, writers);
    await using listeners = await Listeners.start(this.#url, processes);
    const appenders = sessions.map((session) => appender(session));
    raise(this.#appends, processes, await rate(measureMs, appenders));
    const heads = await Promise.all(sessions.map((session) => session.head()));
    const appends = heads.reduce((sum, head) => sum + head, 0) / recordsPerAppend;
    this.#perAppend.set(processes, (await listeners.received(appends * processes)) / appends);
  }
}

/** Sets a rate if it is better than that of the rounds before. */
function raise(best: Map<number, number>, key: number, value: number): void {
  best.set(key, Math.max(value, best.get(key) ?? 0));
}
