import type { Clock } from "@moora/agent-core-effects";
import { LogError, type Lease } from "@moora/event-log";
import { randomId } from "../user-message.ts";
import type { LogHandle } from "./log-handle.ts";
import { SessionError } from "./session-error.ts";

/** Holds the right to run effects, for as long as it is renewed. */
export interface LeaseKeeper {
  readonly until: number;
  /** Renews no more, and gives the right back. */
  close(): Promise<void>;
}

export interface LeaseOptions {
  readonly handle: LogHandle;
  readonly owner: string;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Whether the one who holds the lease is known to be dead, so that nobody has to wait for its end. */
  readonly isOwnerGone: ((owner: string) => boolean | Promise<boolean>) | undefined;
  /** Called once when the lease was lost. */
  readonly onLost: (error: SessionError) => void;
}

/** A lease is held by one who opened a session, not by a name: two of one name are told apart. */
const holderOf = (owner: string): string => `${owner}#${randomId("lease")}`;

const ownerOf = (holder: string): string =>
  holder.includes("#") ? holder.slice(0, holder.lastIndexOf("#")) : holder;

/** Takes the lease, or throws `SessionBusy` naming its owner. */
export async function keepLease(options: LeaseOptions): Promise<LeaseKeeper> {
  const { handle, owner, clock, ttlMs, onLost } = options;
  const holder = holderOf(owner);
  const claim = async (): Promise<Lease> =>
    await handle.log.lease({ owner: holder, now: clock.now(), ttlMs });
  let lease = await claim();
  if (lease.owner !== holder && (await mayTakeOver(lease, options))) {
    await handle.log.release(lease.owner);
    lease = await claim();
  }
  if (lease.owner !== holder)
    throw new SessionError("SessionBusy", `The session ${handle.log.id} is run by ${ownerOf(lease.owner)}.`, {
      owner: ownerOf(lease.owner),
    });

  let stopped = false;
  let renewing: Promise<void> = Promise.resolve();
  let callOff = (): void => undefined;
  const renew = async (): Promise<void> => {
    const now = await renewed(claim, handle);
    if (stopped) return;
    if (now === undefined || now.owner === holder) {
      lease = now ?? lease;
      schedule();
    } else {
      stopped = true;
      const taker = ownerOf(now.owner);
      onLost(new SessionError("StaleWriter", `The session was taken over by ${taker}.`, { owner: taker }));
    }
  };
  const schedule = (): void => {
    callOff = clock.after(Math.max(1, Math.floor(ttlMs / 3)), () => void (renewing = renew()));
  };
  schedule();

  return {
    get until() {
      return lease.until;
    },
    async close() {
      stopped = true;
      callOff();
      // A claim that is under way would take the lease again after it was given back.
      await renewing;
      await handle.log.release(holder);
    },
  };
}

/** Who opens a session by the same name again takes over from itself; others must be known to be gone. */
async function mayTakeOver(lease: Lease, { owner, isOwnerGone }: LeaseOptions): Promise<boolean> {
  const holder = ownerOf(lease.owner);
  return holder === owner || (await isOwnerGone?.(holder)) === true;
}

/**
 * The lease after a renewal. Undefined when the log did not say: the next commit will tell what is wrong with it, and
 * until then the lease runs on.
 */
async function renewed(claim: () => Promise<Lease>, handle: LogHandle): Promise<Lease | undefined> {
  try {
    return await claim();
  } catch (error) {
    // Another session's failed write may be all that stands in the way of this handle.
    if (!(error instanceof LogError) || error.code !== "LogWrite") return undefined;
  }
  try {
    await handle.renew();
    return await claim();
  } catch {
    return undefined;
  }
}
