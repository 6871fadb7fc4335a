/** The sessions of an application that are open at the same time, each in one of its processes. */
export interface Given {
  readonly sessions: number;
  /** Steps of each session in a minute, on average. */
  readonly stepsPerMinute: number;
  readonly processes: number;
}

/** What one PostgreSQL does, and what a step costs it. */
export interface Measured {
  readonly recordsPerStep: number;
  readonly bytesPerRecord: number;
  readonly walBytesPerStep: number;
  /** Appends that notify, without a process that listens. */
  readonly appendsPerSecond: number;
  /** Appends that notify, with so many processes that listen. */
  readonly appendsWithProcesses: { readonly processes: number; readonly rate: number };
  readonly appendsPerSecondWithoutNotify: number;
  readonly renewalsPerSecond: number;
  readonly headsOf1000SessionsMs: number;
}

/** A lease is renewed three times in its time: each 10 seconds by default. */
const renewalMs = 10_000;

/** What the sessions ask of their PostgreSQL in each second. */
export function demandOf({ sessions, stepsPerMinute, processes }: Given, measured: Measured) {
  const steps = (sessions * stepsPerMinute) / 60;
  // Each is appended alone: what happens and what begins with it are one record.
  const records = steps * measured.recordsPerStep;
  return {
    stepsPerSecond: Math.round(steps),
    appendsPerSecond: Math.round(records),
    gigabytesPerDay: Math.round((records * measured.bytesPerRecord * 86_400) / 1e9),
    walMegabytesPerSecond: Math.round((steps * measured.walBytesPerStep) / 1e6),
    leaseRenewalsPerSecond: Math.round((sessions * 1_000) / renewalMs),
    notificationsPerSecond: Math.round(records * processes),
    headsPerSecond: sessions,
  };
}

/** The number of open sessions at which one PostgreSQL has reached its measured rate, by what reaches it. */
export function limitsOf({ stepsPerMinute, processes }: Given, measured: Measured) {
  const appendsPerSession = (stepsPerMinute * measured.recordsPerStep) / 60;
  return {
    leases: Math.round((measured.renewalsPerSecond * renewalMs) / 1_000),
    notifications: Math.round(notifyRate(processes, measured) / appendsPerSession),
    appends: Math.round(measured.appendsPerSecondWithoutNotify / appendsPerSession),
    /** Of one processor core of the database. */
    heads: Math.round(1_000_000 / measured.headsOf1000SessionsMs),
  };
}

/**
 * Appends in a second that notify a number of processes. Commits that notify are made one after the other, and the time of one grows
 * by an amount for each process that listens.
 */
export function notifyRate(
  processes: number,
  { appendsPerSecond, appendsWithProcesses }: Pick<Measured, "appendsPerSecond" | "appendsWithProcesses">,
): number {
  const alone = 1 / appendsPerSecond;
  // Not below 0: in short measurements, noise can be more than what the processes cost.
  const perProcess = Math.max(0, 1 / appendsWithProcesses.rate - alone) / appendsWithProcesses.processes;
  return 1 / (alone + perProcess * processes);
}
