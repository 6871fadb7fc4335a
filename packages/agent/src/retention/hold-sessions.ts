import type { Clock } from "@moora/agent-core-effects";
import type { EventLog, Lease, SessionLog } from "@moora/event-log";
import { ownerOf } from "../durable/lease-keeper.ts";
import { SessionError } from "../durable/session-error.ts";
import { randomId } from "../user-message.ts";

/** A session whose lease is held, so that no process runs it. */
export interface HeldSession {
  readonly session: SessionLog;
  /** The owner of the lease: no other one has this name. */
  readonly owner: string;
  /** Removes the session if its last record is `seq`. */
  removeAt(seq: number): Promise<boolean>;
  /** Renews the lease. Throws `SessionBusy` if it was lost. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

const leaseMs = 60_000;

/** Whether a process runs the session. */
export async function isLeased(log: EventLog, id: string, clock: Clock): Promise<boolean> {
  const lease = await (await log.open(id))?.currentLease();
  return lease !== undefined && lease.until > clock.now();
}

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
  const owner = randomId("retention");
  const claim = async (): Promise<void> => {
    const lease = await session.lease({ owner, now: clock.now(), ttlMs: leaseMs });
    if (lease.owner === owner) return;
    throw isBusy(id, lease);
  };
  await claim();
  return {
    session,
    owner,
    removeAt: async (seq) => (await session.removeAt?.(seq)) === true,
    renew: claim,
    release: async () => await session.release(owner),
  };
}

/** The error for a session that a process runs. */
export function isBusy(id: string, { owner, until }: Lease): SessionError {
  const name = ownerOf(owner);
  return new SessionError(
    "SessionBusy",
    `The session ${id} is run by ${name}. Close it there, or wait for the end of its lease.`,
    { owner: name, until },
  );
}

/** Returns a function that renews the leases of sessions when a third of their time has passed. */
export function renewalOf(held: readonly HeldSession[], clock: Clock): () => Promise<void> {
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
