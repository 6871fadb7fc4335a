import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog, type Lease } from "@moora/event-log";
import { checkIsLog } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { adviceToOpen, busyError } from "./busy-error.ts";
import { engineOf, holderOf, isDead, ownerOf } from "./lease-holder.ts";
import type { LogHandle } from "./log-handle.ts";
import type { Logger } from "../logger.ts";
import { SessionError } from "./session-error.ts";

/** A lease that renews itself until it is lost or closed. */
export interface LeaseKeeper {
  /** When the lease ends unless it is renewed, in milliseconds since 1970. */
  readonly until: number;
  /** Whether another owner may have had the lease after it was first claimed, so that the log has to be read again. */
  readonly mayBeStale: boolean;
  /** Stops the renewals and releases the lease. */
  close(): Promise<void>;
}

export interface LeaseOptions {
  readonly handle: LogHandle;
  readonly owner: string;
  /** Whether an owner of the same name counts as this one before a restart, so that its lease is taken over. */
  readonly takesOverOwnName: boolean;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** The time until which to wait for a busy session, in milliseconds since 1970. */
  readonly waitUntil: number;
  /** Whether an owner is known to have ended, so that its lease can be taken over before it ends. */
  readonly isOwnerGone: ((owner: string) => boolean | Promise<boolean>) | undefined;
  /** Called once, when another owner has taken the lease. */
  readonly onLost: (error: SessionError) => void;
  /** Called for a renewal that failed. The lease stays valid until its end, and the next renewal is still due. */
  readonly onError: (error: unknown) => void;
  readonly logger: Logger;
  /** Ends the wait for a busy session. */
  readonly signal?: AbortSignal | undefined;
}

/** The longest delay of a timer; longer ones fire at once. */
const longestTimerMs = 2 ** 31 - 1;
/** The interval at which the lease of a busy session is claimed again. */
const pollMs = 250;

/** Whether the lease has ended, so that no owner dispatches the deadlines of the session. */
export const hasEnded =
  (clock: Clock) =>
  (lease: Lease | undefined): boolean =>
    lease === undefined || lease.until <= clock.now();

/**
 * Acquires the lease. Rejects with `SessionBusy` if another owner still holds it at `waitUntil`, with `LogBusy` if the log takes
 * longer to answer than the lease lasts, and with the errors of the log.
 */
export async function keepLease(options: LeaseOptions): Promise<LeaseKeeper> {
  const { handle, clock, ttlMs, onLost } = options;
  const holder = holderOf(options.owner);
  const claim = async (): Promise<Lease> =>
    await handle.log.lease({ owner: holder, now: clock.now(), ttlMs });
  const acquired = await acquireLease(claim, holder, options);
  let { lease } = acquired;

  let stopped = false;
  let renewing: Promise<void> = Promise.resolve();
  let cancelTimer = (): void => undefined;
  const renew = async (): Promise<void> => {
    const startedAt = clock.now();
    const now = await renewLease(claim, options);
    if (stopped) return;
    if (now === undefined || now.owner === holder) {
      lease = now ?? lease;
      schedule(startedAt);
    } else {
      stopped = true;
      onLost(takenOverError(ownerOf(now.owner)));
    }
  };
  /** Renews a third of the time after the beginning of the claim before, at once if that took longer. */
  const schedule = (startedAt: number): void => {
    const elapsed = Math.max(0, clock.now() - startedAt);
    const ms = Math.min(Math.max(1, Math.floor(ttlMs / 3) - elapsed), longestTimerMs);
    // The timer does not keep the process alive. After its end the lease expires, or is recognized by its fingerprint.
    cancelTimer = clock.after(ms, () => void (renewing = renew()), { keepsAlive: false });
  };
  schedule(lease.until - ttlMs);

  return {
    get until() {
      return lease.until;
    },
    mayBeStale: acquired.mayBeStale,
    async close() {
      stopped = true;
      cancelTimer();
      // A pending claim would acquire the lease again after its release.
      await renewing;
      await handle.log.release(holder);
    },
  };
}

/**
 * The options of `sessionOwner`. `clock` defaults to the system clock. `isOwnerGone` returns whether an owner is known to
 * have ended; without it, only the ends of processes on this machine are known.
 */
export type OwnerOptions = Partial<Pick<LeaseOptions, "clock" | "isOwnerGone">>;

/**
 * The name of the owner that runs a session now, according to its lease. Undefined if no owner runs it, if the session
 * does not exist, or if the owner is known to have ended. Rejects with `LogError`.
 */
export async function sessionOwner(
  log: EventLog,
  id: string,
  { clock = systemClock, isOwnerGone }: OwnerOptions = {},
): Promise<string | undefined> {
  checkIsLog(log);
  const session = await log.open(id);
  if (session === undefined) return undefined;
  if (log.owner !== undefined) return log.owner;
  // The lease can only be read by claiming it. It is released at once.
  const self = holderOf("");
  const lease = await session.lease({ owner: self, now: clock.now(), ttlMs: 1 });
  if (lease.owner !== self) return (await isDead(lease, isOwnerGone)) ? undefined : ownerOf(lease.owner);
  await session.release(self);
  return undefined;
}

/** How often a lease is claimed that has ended before the log answers. */
const maxLateClaims = 3;

/**
 * Claims the lease until it is acquired. Throws `SessionBusy` at `waitUntil`, and `LogBusy` if the log takes longer to answer than
 * the lease lasts: another owner may have had it meanwhile.
 */
async function acquireLease(
  claim: () => Promise<Lease>,
  holder: string,
  options: LeaseOptions,
): Promise<{ readonly lease: Lease; readonly mayBeStale: boolean }> {
  const { handle, clock, waitUntil, ttlMs, signal } = options;
  let lateClaims = 0;
  let isLogged = false;
  for (let mayBeStale = false; ; mayBeStale = true) {
    let lease = await claim();
    if (lease.owner !== holder && (await mayTakeOver(lease, options))) {
      await handle.log.release(lease.owner);
      logLease(options, "lease-taken-over", lease);
      lease = await claim();
    }
    if (lease.owner === holder) {
      if (lease.until > clock.now()) return { lease, mayBeStale };
      lateClaims += 1;
      if (lateClaims < maxLateClaims) continue;
      await handle.log.release(holder);
      throw new LogError(
        "LogBusy",
        `The log takes longer to answer than the lease lasts (leaseMs: ${ttlMs}). Use a longer lease.`,
      );
    }
    const now = clock.now();
    const isOver = now >= waitUntil || signal?.aborted === true || engineOf(lease.owner) !== undefined;
    if (isOver) throw busyError(handle.log.id, lease, adviceToOpen(lease, now));
    if (!isLogged) logLease(options, "lease-awaited", lease);
    isLogged = true;
    await pause(clock, Math.max(1, Math.min(pollMs, waitUntil - now, lease.until - now)), signal);
  }
}

const leaseTexts = {
  "lease-taken-over": "The lease was taken over from an owner that has ended",
  "lease-awaited": "Another owner runs the session; this process waits for its lease",
} as const;

function logLease({ logger }: LeaseOptions, code: keyof typeof leaseTexts, lease: Lease): void {
  const owner = ownerOf(lease.owner);
  logger.log(code, { message: `${leaseTexts[code]}: ${owner}.`, data: { owner, until: lease.until } });
}

async function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const cancel = clock.after(ms, end);
  signal?.addEventListener("abort", end);
  await promise;
  signal?.removeEventListener("abort", end);
  cancel();
}

/** Whether the owner that holds the lease is this one before a restart, or is known to have ended. */
async function mayTakeOver(lease: Lease, options: LeaseOptions): Promise<boolean> {
  const { owner, takesOverOwnName, isOwnerGone } = options;
  if (engineOf(lease.owner) !== undefined) return false;
  if (takesOverOwnName && ownerOf(lease.owner) === owner) return true;
  return await isDead(lease, isOwnerGone);
}

const takenOverError = (owner: string): SessionError =>
  new SessionError("StaleWriter", `The session was taken over by ${owner}.`, { owner });

/**
 * Renews the lease. Undefined if the claim failed: the error is reported, and the lease stays valid until its end.
 */
async function renewLease(
  claim: () => Promise<Lease>,
  { handle, onError, logger }: LeaseOptions,
): Promise<Lease | undefined> {
  try {
    return await claim();
  } catch (error) {
    // After a failed write of another session, this handle only has to be opened again.
    if (!(error instanceof LogError) || error.code !== "LogWrite") {
      onError(error);
      return undefined;
    }
    logger.log("lease-retried", {
      message: "The lease could not be renewed; the log is opened again.",
      error,
    });
  }
  try {
    await handle.renew();
    return await claim();
  } catch (error) {
    onError(error);
    return undefined;
  }
}
