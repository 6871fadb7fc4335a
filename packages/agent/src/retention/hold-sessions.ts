import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, Lease, SessionLog } from "@moora/event-log";
import { unfinishedError, unfinishedMove } from "../durable/closed-copy.ts";
import { holderOf, isDead, ownerOf } from "../durable/lease-holder.ts";
import { localProcess } from "../durable/local-process.ts";
import { SessionError } from "../durable/session-error.ts";
import { randomId } from "../user-message.ts";

/** A session whose lease is held, so that no process runs it. */
export interface HeldSession {
  readonly session: SessionLog;
  /** The holder of the lease: no other one has this name. */
  readonly holder: string;
  /** Removes the session if its last record is `seq`. */
  removeAt(seq: number): Promise<boolean>;
  /** Renews the lease. Rejects with `SessionBusy` if it was lost. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** How long a lease lasts that is not renewed: as long as that of a session by default. */
const leaseMs = 30_000;

/** Whether a process runs the session, as far as is known, or it is a closed copy. */
export async function isLeased(log: EventLog, id: string, clock: Clock): Promise<boolean> {
  return await isInForce(await (await log.open(id))?.currentLease(), clock);
}

/** Whether a lease has not ended, and neither has its owner as far as is known. */
export const isInForce = async (lease: Lease | undefined, clock: Clock): Promise<boolean> =>
  lease !== undefined && lease.until > clock.now() && !(await isDead(lease));

/**
 * Takes the lease of a session. Rejects with `SessionUnknown`, with `SessionBusy` if a process runs the session, and with
 * `InvalidOption` for a log whose sessions have no `removeAt`.
 */
export async function holdSession(log: EventLog, id: string, clock: Clock): Promise<HeldSession> {
  const session = await log.open(id);
  if (session === undefined) throw new SessionError("SessionUnknown", `Session "${id}" not found.`);
  if (session.removeAt === undefined) {
    throw new SessionError(
      "InvalidOption",
      `The log "${log.name}" cannot move or prune sessions: its sessions have no removeAt.`,
    );
  }
  const holder = holderOf(localProcess()?.name ?? randomId("retention"));
  const claim = async (): Promise<Lease> =>
    await session.lease({ owner: holder, now: clock.now(), ttlMs: leaseMs });
  const renew = async (): Promise<void> => {
    const lease = await claim();
    if (lease.owner !== holder) throw isBusy(id, lease);
  };
  const lease = await claim();
  if (lease.owner !== holder) {
    if (await isDead(lease)) await session.release(lease.owner);
    await renew();
  }
  return {
    session,
    holder,
    removeAt: async (seq) => (await session.removeAt?.(seq)) === true,
    renew,
    release: async () => await session.release(holder),
  };
}

/** Removes a session without records, for which `removeAt` does not work. Returns false for one that has got a record meanwhile. */
export const removeEmpty = async (log: EventLog, session: SessionLog): Promise<boolean> =>
  (await session.head()) === 0 && (await log.remove(session.id));

/** The error for a session that a process runs. */
export function isBusy(id: string, lease: Lease): SessionError {
  if (lease.owner === unfinishedMove) return unfinishedError(id);
  const { owner, until } = lease;
  const name = ownerOf(owner);
  return new SessionError(
    "SessionBusy",
    `The session ${id} is run by ${name}. Close it there, or wait for the end of its lease.`,
    { owner: name, until },
  );
}

/** Returns a function that renews the leases of a changing set of sessions when a third of their time has passed. */
export function renewalOf(held: ReadonlySet<HeldSession>, clock: Clock): () => Promise<void> {
  let renewedAt = clock.now();
  return async () => {
    const now = clock.now();
    if (now - renewedAt < leaseMs / 3) return;
    renewedAt = now;
    for (const each of held) await each.renew();
  };
}

/** Takes the leases of several sessions, all or none, for the time of the work. */
export async function withHeld<Result>(
  log: EventLog,
  { ids, clock }: { readonly ids: readonly string[]; readonly clock: Clock },
  work: (held: readonly HeldSession[]) => Promise<Result>,
): Promise<Result> {
  const held: HeldSession[] = [];
  try {
    for (const id of ids) held.push(await holdSession(log, id, clock));
    return await work(held);
  } finally {
    // A session that was removed has no lease.
    for (const each of held) await each.release();
  }
}
