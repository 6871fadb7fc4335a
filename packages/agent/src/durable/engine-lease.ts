import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, LeaseClaim, SessionLog } from "@moora/event-log";
import { checkIsId, checkIsLog } from "../check-arguments.ts";
import { engineOf, holderOfEngine, isDead } from "./lease-holder.ts";
import { busyError } from "./lease-keeper.ts";

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
export async function takeLeaseForEngine(session: SessionLog, engine: string, clock: Clock): Promise<void> {
  const claim = engineClaim(engine, clock.now());
  const current = await session.currentLease();
  if (current?.owner === claim.owner) return;
  if (current !== undefined && (await isDead(current))) await session.release(current.owner);
  const lease = await session.lease(claim);
  if (lease.owner !== claim.owner) throw busyError(session.id, lease, claim.now);
}

/**
 * Gives the lease of a session back that an engine holds, so that processes may run the session. Returns false if none holds it, and if
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
