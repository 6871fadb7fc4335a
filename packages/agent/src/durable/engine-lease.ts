import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, Lease, LeaseClaim, SessionLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { adviceToOpen, busyError } from "./busy-error.ts";
import { replacingClaim } from "./closed-copy.ts";
import { engineOf, holderOfEngine, isDead } from "./lease-holder.ts";

/** The last moment that a `Date` can have. */
const farFuture = 8_640_000_000_000_000;

/** The claim with which the processes of an engine take the lease of a session without end, all with the same holder. */
export const engineClaim = (engine: string, now: number): LeaseClaim => ({
  owner: holderOfEngine(engine),
  now,
  ttlMs: farFuture - now,
});

/**
 * Takes the lease of a session for an engine, without end: the processes of the engine share it, and no other process runs the session.
 * Rejects with `SessionBusy` if a process or another engine runs it, and with `MoveUnfinished` for a closed copy.
 */
export const takeLeaseForEngine = async (session: SessionLog, engine: string, clock: Clock): Promise<void> =>
  await takeLease(session, engineClaim(engine, clock.now()), await session.currentLease());

/** Takes the lease of a session with the claim of an engine. `present` is the lease that the session has. Rejects as `takeLeaseForEngine`. */
export async function takeLease(
  session: SessionLog,
  claim: LeaseClaim,
  present: Lease | undefined,
): Promise<void> {
  const { owner, now, ttlMs } = claim;
  if (present?.owner === owner) return;
  const isReplaced = present !== undefined && (await isDead(present));
  const lease = await session.lease(isReplaced ? replacingClaim(present, owner, now, ttlMs) : claim);
  if (lease.owner !== owner) throw busyError(session.id, lease, adviceToOpen(lease, now));
}

/**
 * Releases the lease that an engine holds on a session, so that a process may run it. Returns false if none holds it, and if
 * the log has no session of this id. Call it when no process of the engine uses the session any more. Rejects with `LogError`.
 */
export async function releaseEngineLease(log: EventLog, id: string): Promise<boolean> {
  checkIsLog(log);
  checkIsId(id);
  const session = await log.open(id);
  const holder = (await session?.currentLease())?.owner;
  if (session === undefined || holder === undefined || engineOf(holder) === undefined) return false;
  await session.release(holder);
  return true;
}
