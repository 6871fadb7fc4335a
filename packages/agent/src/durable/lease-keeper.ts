import type { Clock } from "@moora/agent-core-effects";
import { LogError, type EventLog, type Lease } from "@moora/event-log";
import { checkIsLog } from "../check-arguments.ts";
import { systemClock } from "../clock.ts";
import { randomId } from "../user-message.ts";
import { isProcessGone, localProcess } from "./local-process.ts";
import type { LogHandle } from "./log-handle.ts";
import { SessionError } from "./session-error.ts";

/** Holds the right to run effects, for as long as it is renewed. */
export interface LeaseKeeper {
  readonly until: number;
  /** Whether another owner had to be waited for: what was read of the log before is old. */
  readonly hasWaited: boolean;
  /** Renews no more, and gives the right back. */
  close(): Promise<void>;
}

export interface LeaseOptions {
  readonly handle: LogHandle;
  readonly owner: string;
  /** Whether an owner of the same name is this one, before it was restarted. */
  readonly takesOverOwnName: boolean;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Until when a busy session is waited for, by the clock. */
  readonly waitUntil: number;
  /** Whether an owner is known to be dead, so that the end of its lease does not have to be waited for. */
  readonly isOwnerGone: ((owner: string) => boolean | Promise<boolean>) | undefined;
  /** Called once when the lease was lost. */
  readonly onLost: (error: SessionError) => void;
  /** Called for a renewal that the log did not answer. The lease runs on until the next one. */
  readonly onError: (error: unknown) => void;
}

/** Longer timers than this fire at once. */
const longestTimerMs = 2 ** 31 - 1;
/** How often a busy session is asked for. */
const pollMs = 250;

/**
 * A lease is held by one opening of a session, not by a name: the holder is the owner, the mark of its process, which
 * shows whether that process still lives, and a random id.
 */
const holderOf = (owner: string): string => [owner, localProcess()?.mark ?? "", randomId("lease")].join("#");

const ownerOf = (holder: string): string => holder.split("#").slice(0, -2).join("#") || holder;

const markOf = (holder: string): string => holder.split("#").at(-2) ?? "";

/** Takes the lease, or rejects with `SessionBusy` when another owner holds it until the wait is over. */
export async function keepLease(options: LeaseOptions): Promise<LeaseKeeper> {
  const { handle, clock, ttlMs, onLost } = options;
  const holder = holderOf(options.owner);
  const claim = async (): Promise<Lease> =>
    await handle.log.lease({ owner: holder, now: clock.now(), ttlMs });
  const taken = await takenLease(claim, holder, options);
  let { lease } = taken;

  let stopped = false;
  let renewing: Promise<void> = Promise.resolve();
  let cancelTimer = (): void => undefined;
  const renew = async (): Promise<void> => {
    const now = await renewed(claim, options);
    if (stopped) return;
    if (now === undefined || now.owner === holder) {
      lease = now ?? lease;
      schedule();
    } else {
      stopped = true;
      onLost(takenOver(ownerOf(now.owner)));
    }
  };
  const schedule = (): void => {
    const ms = Math.min(Math.max(1, Math.floor(ttlMs / 3)), longestTimerMs);
    // A process that has nothing else to do ends: the lease runs out, or is seen to be that of a dead process.
    cancelTimer = clock.after(ms, () => void (renewing = renew()), { keepsAlive: false });
  };
  schedule();

  return {
    get until() {
      return lease.until;
    },
    hasWaited: taken.hasWaited,
    async close() {
      stopped = true;
      cancelTimer();
      // A claim that is under way would take the lease again after it was given back.
      await renewing;
      await handle.log.release(holder);
    },
  };
}

/** What `sessionOwner` may know of its machine. */
export type OwnerOptions = Partial<Pick<LeaseOptions, "clock" | "isOwnerGone">>;

/**
 * The name of the owner that runs a session now, by its lease. Undefined when none does, when there is no such session,
 * and when the owner is known to be dead. Rejects with `LogError`.
 */
export async function sessionOwner(
  log: EventLog,
  id: string,
  { clock = systemClock, isOwnerGone }: OwnerOptions = {},
): Promise<string | undefined> {
  checkIsLog(log);
  const session = await log.open(id);
  if (session === undefined) return undefined;
  // Claiming the lease is the only way to see it. It is given back at once.
  const self = holderOf("");
  const lease = await session.lease({ owner: self, now: clock.now(), ttlMs: 1 });
  if (lease.owner !== self) return (await isDead(lease, isOwnerGone)) ? undefined : ownerOf(lease.owner);
  await session.release(self);
  return undefined;
}

/** Claims the lease, again and again while another owner holds it and there is time to wait. */
async function takenLease(
  claim: () => Promise<Lease>,
  holder: string,
  options: LeaseOptions,
): Promise<{ readonly lease: Lease; readonly hasWaited: boolean }> {
  const { handle, clock, waitUntil } = options;
  for (let hasWaited = false; ; hasWaited = true) {
    let lease = await claim();
    if (lease.owner !== holder && (await mayTakeOver(lease, options))) {
      await handle.log.release(lease.owner);
      lease = await claim();
    }
    if (lease.owner === holder) return { lease, hasWaited };
    const now = clock.now();
    if (now >= waitUntil) throw busy(handle.log.id, lease, now);
    await paused(clock, Math.max(1, Math.min(pollMs, waitUntil - now, lease.until - now)));
  }
}

const paused = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

/** Whether the owner that holds the lease is this one before a restart, or is known to be dead. */
async function mayTakeOver(lease: Lease, options: LeaseOptions): Promise<boolean> {
  const { owner, takesOverOwnName, isOwnerGone } = options;
  if (takesOverOwnName && ownerOf(lease.owner) === owner) return true;
  return await isDead(lease, isOwnerGone);
}

const isDead = async ({ owner }: Lease, isOwnerGone: LeaseOptions["isOwnerGone"]): Promise<boolean> =>
  isProcessGone(markOf(owner)) || (await isOwnerGone?.(ownerOf(owner))) === true;

const takenOver = (owner: string): SessionError =>
  new SessionError("StaleWriter", `The session was taken over by ${owner}.`, { owner });

function busy(id: string, { owner: holder, until }: Lease, now: number): SessionError {
  const owner = ownerOf(holder);
  const end = new Date(until);
  const time = Number.isNaN(end.getTime()) ? String(until) : end.toISOString();
  return new SessionError(
    "SessionBusy",
    `The session ${id} is run by ${owner}. Its lease ends at ${time}, ${until - now} ms from now, unless it is renewed. ` +
      'Wait for it with waitMs, open the session with access "post" or "read", or stop that process.',
    { owner, until },
  );
}

/**
 * The lease after a renewal. Undefined when the log did not say: the next commit will report what is wrong with it, and
 * until then the lease runs on.
 */
async function renewed(
  claim: () => Promise<Lease>,
  { handle, onError }: LeaseOptions,
): Promise<Lease | undefined> {
  try {
    return await claim();
  } catch (error) {
    // Another session's failed write may be all that is wrong with this handle.
    if (!(error instanceof LogError) || error.code !== "LogWrite") {
      onError(error);
      return undefined;
    }
  }
  try {
    await handle.renew();
    return await claim();
  } catch (error) {
    onError(error);
    return undefined;
  }
}
