/** The sessions and the database of a simulation. Times are in milliseconds. */
export interface LeaseLoad {
  readonly sessions: number;
  readonly leaseMs: number;
  /** How many renewals the database makes in a second, one after the other. */
  readonly renewalsPerSecond: number;
  /** A pause of the database that begins after a minute, such as a failover. */
  readonly pauseMs: number;
  readonly durationMs: number;
}

export interface LeaseOutcome {
  /** Sessions of which a renewal ended after the lease, so that another process may have taken them over. */
  readonly lost: number;
  /** The longest time from the beginning of a renewal to its end. */
  readonly longestWaitMs: number;
}

const pauseAt = 60_000;

/**
 * Simulates the renewals of leases: each session renews a third of the lease after its last renewal, and all wait in one line.
 * Because every session waits for the same time between its renewals, they stay in the order in which they began.
 */
export function simulateLeases({
  sessions,
  leaseMs,
  renewalsPerSecond,
  pauseMs,
  durationMs,
}: LeaseLoad): LeaseOutcome {
  const periodMs = leaseMs / 3;
  const serviceMs = 1_000 / renewalsPerSecond;
  /** When each session has begun its last renewal, and when it begins the next one. */
  const last = Float64Array.from(
    { length: sessions },
    (_, index) => (index * periodMs) / sessions - periodMs,
  );
  const next = last.map((at) => at + periodMs);
  let freeAt = 0;
  const lost = new Set<number>();
  let longestWaitMs = 0;
  for (let turn = 0; ; turn = (turn + 1) % sessions) {
    const begin = next[turn] ?? 0;
    if (begin >= durationMs) return { lost: lost.size, longestWaitMs: Math.round(longestWaitMs) };
    let start = Math.max(begin, freeAt);
    if (start >= pauseAt && start < pauseAt + pauseMs) start = pauseAt + pauseMs;
    freeAt = start + serviceMs;
    longestWaitMs = Math.max(longestWaitMs, freeAt - begin);
    if (freeAt > (last[turn] ?? 0) + leaseMs) lost.add(turn);
    last[turn] = begin;
    next[turn] = freeAt + periodMs;
  }
}
