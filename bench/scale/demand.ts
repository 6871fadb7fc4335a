/** The sessions of an application that are open at the same time, each in one of its processes. */
export interface Given {
  readonly sessions: number;
  /** Steps of each session in a minute, on average. */
  readonly stepsPerMinute: number;
  readonly processes: number;
}

export interface Measured {
  readonly recordsPerStep: number;
  readonly bytesPerRecord: number;
  readonly walBytesPerStep: number;
  readonly headsOf1000SessionsMs: number;
}

/** A step is two appends: the intent of the model call with what made it wanted, and the result with the next intents. */
const appendsPerStep = 2;
/** A lease of 30 seconds is renewed three times in that time. */
const renewalsPerMinute = 6;

/** What the sessions ask of their PostgreSQL in each second. */
export function demandOf(
  { sessions, stepsPerMinute, processes }: Given,
  { recordsPerStep, bytesPerRecord, walBytesPerStep, headsOf1000SessionsMs }: Measured,
) {
  const steps = (sessions * stepsPerMinute) / 60;
  const appends = steps * appendsPerStep;
  return {
    stepsPerSecond: Math.round(steps),
    appendsPerSecond: Math.round(appends),
    recordsPerSecond: Math.round(steps * recordsPerStep),
    gigabytesPerDay: Math.round((steps * recordsPerStep * bytesPerRecord * 86_400) / 1e9),
    walMegabytesPerSecond: Math.round((steps * walBytesPerStep) / 1e6),
    leaseRenewalsPerSecond: Math.round((sessions * renewalsPerMinute) / 60),
    notificationsReceivedPerSecond: Math.round(appends * processes),
    /** Of one processor core each, for the heads of all open sessions, which are compared once a second. */
    coresForHeads: Math.round(((sessions / 1_000) * headsOf1000SessionsMs) / 1_000),
  };
}
