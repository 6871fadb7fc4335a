import type { Clock } from "@moora/agent-core-effects";
import type { SessionLog } from "@moora/event-log";
import { SessionError } from "./session-error.ts";

/** Holds the right to run effects, for as long as it is renewed. */
export interface LeaseKeeper {
  readonly until: number;
  stop(): Promise<void>;
}

export interface LeaseOptions {
  readonly log: SessionLog;
  readonly owner: string;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Whether the one who holds the lease is known to be dead, so that nobody has to wait for its end. */
  readonly isOwnerGone?: ((owner: string) => boolean | Promise<boolean>) | undefined;
  /** Called once when the lease was lost. */
  readonly onLost: (error: SessionError) => void;
}

/** Takes the lease, or throws `SessionBusy` naming its owner. */
export async function keepLease(options: LeaseOptions): Promise<LeaseKeeper> {
  const { log, owner, clock, ttlMs, onLost } = options;
  const claim = async (): Promise<{ owner: string; until: number }> =>
    await log.lease({ owner, now: clock.now(), ttlMs });
  let lease = await claim();
  if (lease.owner !== owner && (await options.isOwnerGone?.(lease.owner)) === true) {
    await log.release(lease.owner);
    lease = await claim();
  }
  if (lease.owner !== owner)
    throw new SessionError("SessionBusy", `The session ${log.id} is run by ${lease.owner}.`, {
      owner: lease.owner,
    });

  let stopped = false;
  let callOff = (): void => undefined;
  const renew = async (): Promise<void> => {
    if (stopped) return;
    try {
      lease = await claim();
    } catch {
      // The next commit will tell what is wrong with the log; until then the lease runs on.
    }
    if (stopped) return;
    if (lease.owner === owner) schedule();
    else
      onLost(
        new SessionError("StaleWriter", `The session was taken over by ${lease.owner}.`, {
          owner: lease.owner,
        }),
      );
  };
  const schedule = (): void => {
    callOff = clock.after(Math.max(1, Math.floor(ttlMs / 3)), () => void renew());
  };
  schedule();

  return {
    get until() {
      return lease.until;
    },
    async stop() {
      stopped = true;
      callOff();
      await log.release(owner);
    },
  };
}
